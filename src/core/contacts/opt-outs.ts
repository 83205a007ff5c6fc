import type { Context, OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { OptedOutContact } from '../../model/contacts/opt-out.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  listOptOutPage,
  listOptOutsAfter,
  type OptOutPage,
  recordUpstreamOptOut,
} from '../../storage/contacts/opt-outs.js'

const STEP = 500

/** One page of the contacts that want no broadcasts any more, newest first; the first page is 1. */
export function listOptOuts(
  ctx: OperatorContext,
  organization: Organization,
  { page, limit }: { page: number; limit: number },
): Promise<OptOutPage> {
  return listOptOutPage(ctx.database, organization.id, (page - 1) * limit, limit)
}

/** All of them in the same order, read as they are taken. */
export async function* eachOptOut(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
): AsyncGenerator<OptedOutContact> {
  let last: OptedOutContact | null = null
  for (;;) {
    const contacts: OptedOutContact[] = await listOptOutsAfter(ctx.database, organization.id, last, STEP)
    yield* contacts
    if (contacts.length < STEP) return
    last = contacts.at(-1) as OptedOutContact
  }
}

/**
 * The upstream refused the message, or reported it failed, because its recipient wants no marketing (its error 131050): the contact
 * has opted out, and counts so in the message's broadcast. Told again it changes nothing.
 */
export function optOutByUpstream(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  messageId: string,
): Promise<void> {
  return recordUpstreamOptOut(ctx.database, organizationId, messageId, [newId(), newId()])
}
