import type { Context } from '../../context.js'
import { type Contact, isGroup, wroteRecently } from '../../model/contacts/contact.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { findUserId } from '../../storage/contacts/contacts.js'
import type { BlockedPerson } from '../../upstream/wire.js'
import { openBusinessNumber, requireUpstream } from '../organizations/business-number.js'

/** What came of telling the upstream that a contact is blocked, or not any more. */
export interface UpstreamBlock {
  done: boolean
  /** The upstream's error code, and its text; null if it is done, or if there was no answer. */
  code: number | null
  text: string | null
}

const TIMEOUT_MS = 5_000

/**
 * Blocks a contact at the upstream, or unblocks it, as the contact says. Resolves to null if that is not possible: the
 * organization has no number there, the contact is a group, or it is to be blocked and wrote nothing in the last 24
 * hours. Never throws for what the upstream answers, because sends are stopped here in any case.
 */
export async function blockAtUpstream(ctx: Context, tenant: Tenant, contact: Contact): Promise<UpstreamBlock | null> {
  if (tenant.provider !== 'upstream' || !tenant.upstream || isGroup(contact)) return null
  if (contact.blocked && !wroteRecently(contact, ctx.clock())) return null
  const person = await findPerson(ctx, contact)
  if (person === null) return null
  const number = openBusinessNumber(ctx, tenant.id, requireUpstream(tenant))
  const answer = await ctx.upstream.blockUser(number, { person, isBlocked: contact.blocked }, TIMEOUT_MS)
  if (answer.outcome === 'done') return { done: true, code: null, text: null }
  const code = answer.outcome === 'refused' ? answer.code : null
  ctx.log.info(
    { organizationId: tenant.id, contactId: contact.id, code, reason: answer.text },
    'the upstream did not block or unblock a contact',
  )
  return { done: false, code, text: answer.text }
}

async function findPerson(
  { database }: Pick<Context, 'database'>,
  { organization_id, id, chat_id, phone_number }: Contact,
): Promise<BlockedPerson | null> {
  if (phone_number !== null) return { user: chat_id }
  const userId = await findUserId(database, organization_id, id)
  return userId === null ? null : { user_id: userId }
}
