import type { Context, OperatorContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import type { OptedOutContact } from '../../model/contacts/opt-out.js'
import type { Organization } from '../../model/organizations/organization.js'
import { type PageRequest, readBoundedPage } from '../../model/page.js'
import {
  listOptOutPage,
  listOptOutsAfter,
  type OptOutPage,
  recordUpstreamOptOut,
} from '../../storage/contacts/opt-outs.js'

const STEP = 500

/** One page of the contacts that have opted out, newest first. Throws invalid_parameter (page too deep). */
export function listOptOuts(ctx: OperatorContext, organization: Organization, page: PageRequest): Promise<OptOutPage> {
  return readBoundedPage(page, 'The export has all', (skip, limit) =>
    listOptOutPage(ctx.database, organization.id, skip, limit),
  )
}

/** All of them in the same order, read from the database while they are streamed. */
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
 * Records an opt-out that the upstream reported: it refused the message with error 131050, because the recipient does
 * not want marketing messages. It also counts in the message's broadcast. Repeated reports change nothing.
 */
export function optOutByUpstream(
  ctx: { database: Queryable },
  organizationId: string,
  messageId: string,
): Promise<void> {
  return recordUpstreamOptOut(ctx.database, organizationId, messageId)
}
