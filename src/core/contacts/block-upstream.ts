import type { Context } from '../../context.js'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { type Contact, isGroup, wroteRecently } from '../../model/contacts/contact.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { findUserId } from '../../storage/contacts/contacts.js'
import { listInstances } from '../../storage/instances/instances.js'
import type { BusinessNumber, RepeatableOutcome } from '../../upstream/client.js'
import type { BlockedPerson } from '../../upstream/wire.js'
import { openBusinessNumber } from '../organizations/business-number.js'
import { openInstanceNumber } from '../organizations/instance-number.js'

/** What came of telling the upstream that a contact is blocked, or not any more. */
export interface UpstreamBlock {
  done: boolean
  /** The upstream's error code, and its text; null if it is done, or if there was no answer. */
  code: number | null
  text: string | null
}

const TIMEOUT_MS = 5_000
/** How many numbers of the organization are asked at the same time. */
const AT_ONCE = 8

/**
 * Blocks a contact at the organization's number, or unblocks it at all its numbers, as the contact says. Resolves to
 * null if that is not possible: the organization has no number, the contact has no address there, or it is to be
 * blocked and wrote nothing in the last 24 hours. Does not throw for what the upstream answers, because sends are
 * stopped here in any case.
 */
export async function blockAtUpstream(ctx: Context, tenant: Tenant, contact: Contact): Promise<UpstreamBlock | null> {
  if (contact.blocked && !wroteRecently(contact, ctx.clock())) return null
  const inTurn = createSemaphore(AT_ONCE)
  const numbers = await listNumbers(ctx, tenant, contact)
  const asked = await Promise.all(numbers.map((number) => inTurn(() => askToBlock(ctx, number, contact))))
  const answers = asked.filter((answer) => answer !== null)
  if (answers.length === 0) return null
  const failure = answers.find((answer) => answer.outcome !== 'done')
  if (failure === undefined) return { done: true, code: null, text: null }
  const { code, text } = failure
  ctx.log.info(
    { organizationId: tenant.id, contactId: contact.id, code, reason: text },
    'the upstream did not block or unblock a contact',
  )
  return { done: false, code, text }
}

/** The organization's number, and to unblock also those of its instances: through the gateway they block, too. */
async function listNumbers(ctx: Context, tenant: Tenant, { blocked }: Contact): Promise<BusinessNumber[]> {
  const { provider, upstream } = tenant
  const own = provider === 'upstream' && upstream ? [openBusinessNumber(ctx, tenant.id, upstream)] : []
  if (blocked) return own
  const instances = await listInstances(ctx.database, tenant.id)
  const others = instances.filter(({ phone_number_id, access_token }) => phone_number_id && access_token)
  return [...own, ...others.map((instance) => openInstanceNumber(ctx, tenant, instance))]
}

/** Blocks or unblocks a contact at a number, as the contact says; null if it has no address there. Never throws. */
export async function askToBlock(
  ctx: Pick<Context, 'database' | 'upstream'>,
  number: BusinessNumber,
  contact: Contact,
): Promise<RepeatableOutcome | null> {
  const person = await findPerson(ctx, contact)
  return person && ctx.upstream.blockUser(number, { person, isBlocked: contact.blocked }, TIMEOUT_MS)
}

async function findPerson({ database }: Pick<Context, 'database'>, contact: Contact): Promise<BlockedPerson | null> {
  if (isGroup(contact)) return null
  if (contact.phone_number !== null) return { user: contact.chat_id }
  const userId = await findUserId(database, contact.organization_id, contact.id)
  return userId === null ? null : { user_id: userId }
}
