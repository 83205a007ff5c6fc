import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { readId } from '../answer.js'
import type { Connection, UpstreamAccess } from '../connection.js'
import { type Asked, ask, objectPath } from './ask.js'
import { readShort } from './tokens.js'

/** Whose business accounts are asked for, which decides the call. */
export type AccountList =
  /** Those assigned to the user of the token. */
  | { of: 'user'; id: string }
  /** Those that a portfolio owns, or that its clients share with it. */
  | { of: 'owned' | 'client'; id: string }

/** A business number as its account lists it. */
export interface ListedNumber {
  id: string
  /** As it is written, such as `+55 11 4000-1234`; null if it was not said. */
  display: string | null
  name: string | null
}

const LIST_NAMES = { user: 'assigned', owned: 'owned', client: 'client' } as const
const PAGE_LIMIT = 100

/** Lists ids of business accounts; at most one page. */
export function listAccounts(
  connection: Connection,
  access: UpstreamAccess,
  { of, id }: AccountList,
  timeoutMs: number,
): Promise<Asked<{ ids: string[] }>> {
  const path = `${objectPath(id)}/${LIST_NAMES[of]}_whatsapp_business_accounts?fields=id&limit=${PAGE_LIMIT}`
  return ask(connection, { access, method: 'GET', path }, timeoutMs, readIdList)
}

/** Lists the ids of the portfolios that a token may see; at most one page. */
export function listBusinesses(
  connection: Connection,
  access: UpstreamAccess,
  timeoutMs: number,
): Promise<Asked<{ ids: string[] }>> {
  const path = `/me/businesses?fields=id&limit=${PAGE_LIMIT}`
  return ask(connection, { access, method: 'GET', path }, timeoutMs, readIdList)
}

/** Lists a page of the numbers of a business account, from the cursor `after` on (null: the first). */
export function listNumbers(
  connection: Connection,
  access: UpstreamAccess,
  { accountId, after }: { accountId: string; after: string | null },
  timeoutMs: number,
): Promise<Asked<{ numbers: ListedNumber[]; next: string | null }>> {
  const query = new URLSearchParams({ fields: 'id,display_phone_number,verified_name', limit: String(PAGE_LIMIT) })
  if (after !== null) query.set('after', after)
  const path = `${objectPath(accountId)}/phone_numbers?${query}`
  return ask(connection, { access, method: 'GET', path }, timeoutMs, (body) => {
    if (!Array.isArray(body.data)) return null
    const paging = asObject(body.paging)
    const hasNext = asText(paging.next) !== null
    return {
      numbers: asObjects(body.data).flatMap((item) => readNumber(item) ?? []),
      next: hasNext ? asText(asObject(paging.cursors).after) : null,
    }
  })
}

function readIdList({ data }: JsonObject): { ids: string[] } | null {
  return Array.isArray(data) ? { ids: asObjects(data).flatMap(({ id }) => readId(id) ?? []) } : null
}

function readNumber(item: JsonObject): ListedNumber | null {
  const id = readId(item.id)
  // Ids with a slash are those of simulated phones, which nobody connects.
  if (id === null || /[/\s]/.test(id)) return null
  return { id, display: readShort(item.display_phone_number), name: readShort(item.verified_name) }
}
