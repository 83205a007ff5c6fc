import type { Context } from '../../context.js'
import { type Contact, isGroup, wroteRecently } from '../../model/contacts/contact.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { findUserId } from '../../storage/contacts/contacts.js'
import type { BlockOutcome, BusinessNumber } from '../../upstream/client.js'
import type { BlockedPerson } from '../../upstream/wire.js'
import { openBusinessNumber } from '../organizations/business-number.js'

/** What came of telling the upstream that a contact is blocked, or not any more. */
export interface UpstreamBlock {
  done: boolean
  /** The upstream's error code, and its text; null if it is done, or if there was no answer. */
  code: number | null
  text: string | null
}

const TIMEOUT_MS = 5_000

/**
 * Blocks a contact at the organization's number, or unblocks it, as the contact says. Resolves to null if that is not
 * possible: the organization has no number, the contact has no address there, or it is to be blocked and wrote nothing
 * in the last 24 hours. Does not throw for what the upstream answers, because sends are stopped here in any case.
 */
export async function blockAtUpstream(ctx: Context, tenant: Tenant, contact: Contact): Promise<UpstreamBlock | null> {
  if (tenant.provider !== 'upstream' || !tenant.upstream) return null
  if (contact.blocked && !wroteRecently(contact, ctx.clock())) return null
  const answer = await askToBlock(ctx, openBusinessNumber(ctx, tenant.id, tenant.upstream), contact)
  if (answer === null) return null
  if (answer.outcome === 'done') return { done: true, code: null, text: null }
  const code = answer.outcome === 'refused' ? answer.code : null
  ctx.log.info(
    { organizationId: tenant.id, contactId: contact.id, code, reason: answer.text },
    'the upstream did not block or unblock a contact',
  )
  return { done: false, code, text: answer.text }
}

/** Blocks or unblocks a contact at a number, as the contact says; null if it has no address there. Never throws. */
export async function askToBlock(
  ctx: Pick<Context, 'database' | 'upstream'>,
  number: BusinessNumber,
  contact: Contact,
): Promise<BlockOutcome | null> {
  const person = await findPerson(ctx, contact)
  return person && ctx.upstream.blockUser(number, { person, isBlocked: contact.blocked }, TIMEOUT_MS)
}

async function findPerson({ database }: Pick<Context, 'database'>, contact: Contact): Promise<BlockedPerson | null> {
  if (isGroup(contact)) return null
  if (contact.phone_number !== null) return { user: contact.chat_id }
  const userId = await findUserId(database, contact.organization_id, contact.id)
  return userId === null ? null : { user_id: userId }
}
