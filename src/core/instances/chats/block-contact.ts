import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { updateContact } from '../../../storage/contacts/contacts.js'
import { askToBlock } from '../../contacts/block-upstream.js'
import { openInstanceNumber } from '../../organizations/instance-number.js'
import { findChatContact } from './chat-contact.js'

/**
 * Blocks a contact at the number of an instance and in Parley, or unblocks it. Nothing is changed here if the upstream
 * refuses. Throws not_supported (other kinds of instances), contact_not_found, upstream_rejected, outcome_unknown,
 * invalid_provider.
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
  switch (answer.outcome) {
    case 'refused':
      throw new Problem('upstream_rejected', answer.text, { upstream_code: answer.code })
    case 'unknown':
      throw new Problem('outcome_unknown', `It is not known whether it was done: ${answer.text}`, { retryable: false })
    case 'done':
      await updateContact(ctx.database, tenant.id, contact.id, { blocked: isBlocked })
  }
}
