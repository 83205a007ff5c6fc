import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { UpstreamAccess } from '../../../upstream/client.js'
import type { ListedNumber } from '../../../upstream/connecting/accounts.js'
import type { NotAsked, Refused } from '../../../upstream/connecting/ask.js'
import type { TokenState } from '../../../upstream/connecting/tokens.js'
import { type Asking, found, foundError } from './findings.js'

/** The ids that the caller has chosen, or that are stored. */
export interface NumberWish {
  phoneNumberId: string | undefined
  businessAccountId: string | undefined
  /** The connected number: taken if no number is wished for and the token reaches it. Another one is only proposed. */
  connected: { phoneNumberId: string; businessAccountId: string } | null
  /** Numbers that are only taken if they are wished for. */
  except: readonly string[]
  /** Whether the caller wants to choose, even if there is only one. */
  isOpen: boolean
}

/** A number that the token reaches, in its account: reading the list of the account is the proof. */
export interface ReachedNumber extends ListedNumber {
  accountId: string
}

type Search = { number: ReachedNumber } | { finding: StepFinding }

/** The business accounts that a token opens. */
interface Accounts {
  ids: string[]
  /** A list of them that was not answered. */
  failed: NotAsked | null
  /** Whether there may be more than those that were asked for. */
  areCut: boolean
}

/** More accounts than this are asked for by id. */
const MAX_ACCOUNTS = 20
const MAX_BUSINESSES = 5
/** A hundred numbers each. */
const MAX_PAGES = 5
const MAX_CHOICES = 100

/**
 * Finds the number to connect among those that the token reaches: the one that is wished for, else the connected one,
 * else the only one. It is the only one if all lists were read. A finding says what to choose, or why there is none.
 */
export async function findNumber(
  asking: Asking,
  access: UpstreamAccess,
  token: TokenState | null,
  wish: NumberWish,
): Promise<Search> {
  const { connected, except } = wish
  const accounts =
    wish.businessAccountId === undefined
      ? await findAccounts(asking, access, token)
      : { ids: [wish.businessAccountId], failed: null, areCut: false }
  if (accounts.ids.length === 0) return { finding: judgeNoAccount(accounts) }
  const isFirst = (id: string) => id === connected?.businessAccountId
  const sorted = [...accounts.ids.filter(isFirst), ...accounts.ids.filter((id) => !isFirst(id))]
  const asked = sorted.slice(0, MAX_ACCOUNTS)
  const lists = await Promise.all(asked.map((accountId) => readNumbers(asking, access, accountId)))
  const reached = lists.flatMap((list) => ('numbers' in list ? list.numbers : []))
  const wished = reached.find(({ id }) => id === (wish.phoneNumberId ?? connected?.phoneNumberId))
  if (wished) return { number: wished }
  const numbers = reached.filter(({ id }) => !except.includes(id))
  const errors = lists.flatMap((list) => ('error' in list ? [list] : []))
  const failed = accounts.failed ?? errors.flatMap(({ error }) => (error.outcome === 'failed' ? error : []))[0]
  if (failed) return { finding: foundError('number_unavailable', failed) }
  const [refused] = errors.flatMap(({ error, accountId }) => (error.outcome === 'refused' ? { error, accountId } : []))
  if (refused && (numbers.length === 0 || wish.phoneNumberId !== undefined)) {
    return { finding: foundError('account_refused', refused.error, { accounts: refused.accountId }) }
  }
  const names = { accounts: asked.join(', ') }
  if (wish.phoneNumberId !== undefined) {
    return { finding: found('number_unreached', { ...names, number: wish.phoneNumberId }) }
  }
  const [only, ...others] = numbers
  if (only === undefined) return { finding: found('no_number', names) }
  if (connected) return { finding: toChoice('number_other', numbers, { connected: connected.phoneNumberId }) }
  const isOnly = !wish.isOpen && others.length === 0 && !refused && !accounts.areCut && sorted.length === asked.length
  return isOnly ? { number: only } : { finding: toChoice('number_choice', numbers) }
}

function judgeNoAccount({ failed }: Accounts): StepFinding {
  return failed
    ? foundError('number_unavailable', failed)
    : { ...found('account_unknown'), field: 'business_account_id' }
}

/** The accounts that the token names, that are assigned to its user, or that its portfolios have. */
async function findAccounts(
  { upstream: { connecting }, callMs }: Asking,
  access: UpstreamAccess,
  token: TokenState | null,
): Promise<Accounts> {
  if (token !== null && token.accountIds.length > 0) return { ids: token.accountIds, failed: null, areCut: false }
  const userId = token?.userId ?? null
  const assigned = userId === null ? null : await connecting.listAccounts(access, { of: 'user', id: userId }, callMs())
  if (assigned?.outcome === 'done' && assigned.ids.length > 0) {
    return { ids: assigned.ids, failed: null, areCut: false }
  }
  const businesses = await connecting.listBusinesses(access, callMs())
  const businessIds = businesses.outcome === 'done' ? businesses.ids : []
  const wanted = businessIds
    .slice(0, MAX_BUSINESSES)
    .flatMap((id) => [{ of: 'owned', id } as const, { of: 'client', id } as const])
  const lists = await Promise.all(wanted.map((list) => connecting.listAccounts(access, list, callMs())))
  const failed = [assigned, businesses, ...lists].flatMap((list) => (list?.outcome === 'failed' ? list : []))[0] ?? null
  const ids = [...new Set(lists.flatMap((list) => (list.outcome === 'done' ? list.ids : [])))]
  return { ids, failed, areCut: businessIds.length > MAX_BUSINESSES }
}

async function readNumbers(
  { upstream: { connecting }, callMs }: Asking,
  access: UpstreamAccess,
  accountId: string,
): Promise<{ numbers: ReachedNumber[] } | { error: Refused | NotAsked; accountId: string }> {
  const numbers: ReachedNumber[] = []
  let after: string | null = null
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked = await connecting.listNumbers(access, { accountId, after }, callMs())
    if (asked.outcome !== 'done') return { error: asked, accountId }
    numbers.push(...asked.numbers.map((number) => ({ ...number, accountId })))
    after = asked.next
    if (after === null) break
  }
  return { numbers }
}

function toChoice(
  reason: 'number_choice' | 'number_other',
  numbers: readonly ReachedNumber[],
  values: Record<string, string> = {},
): StepFinding {
  const choices = numbers.slice(0, MAX_CHOICES).map(({ id, display, name, accountId }) => ({
    value: id,
    label: [display ?? id, name, accountId].filter((part) => part !== null).join(', '),
  }))
  return { ...found(reason, { ...values, count: numbers.length }), field: 'phone_number_id', choices }
}
