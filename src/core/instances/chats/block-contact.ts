import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { updateContact } from '../../../storage/contacts/contacts.js'
import { askToBlock, blockAtUpstream } from '../../contacts/block-upstream.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'
import { explainFailure } from '../commands/device.js'
import { findChatContact } from './chat-contact.js'

/**
 * Blocks a contact at the number of an instance and in Parley, or unblocks it at all numbers. Nothing is changed here if
 * the upstream refuses for the instance. Throws not_supported (other kinds of instances), contact_not_found,
 * invalid_provider, upstream_rejected, upstream_credentials, too_many_requests, upstream_unavailable.
 */
export async function blockContact(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { number, isBlocked }: { number: string; isBlocked: boolean },
): Promise<void> {
  if (instance.kind !== 'business_api') {
    throw new Problem(
      'not_supported',
      'Only business numbers block people here: block on the phone, or stop sends with PATCH /contact of the API and blocked = true',
    )
  }
  const contact = await findChatContact(ctx, tenant, number)
  if (contact === null) throw new Problem('contact_not_found', `There is no contact with the number ${excerpt(number)}`)
  const answer = await askToBlock(ctx, openInstanceNumber(ctx, tenant, instance), { ...contact, blocked: isBlocked })
  if (answer === null) {
    throw new Problem('not_supported', `${contact.chat_id} has no number or user id that WhatsApp could block`)
  }
  if (answer.outcome !== 'done') throw explainFailure(answer)
  await updateContact(ctx.database, tenant.id, contact.id, { blocked: isBlocked })
  if (!isBlocked) await blockAtUpstream(ctx, tenant, { ...contact, blocked: false })
}
