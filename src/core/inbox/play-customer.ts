import type { Context } from '../../context.js'
import { isUserIdChatId } from '../../model/contacts/phone-number.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { requireContact } from '../contacts/find.js'
import { requireSandboxes } from '../instances/commands/device.js'
import { findReplyChannel } from './reply-channel.js'

const TIMEOUT_MS = 10_000
const RETRY_SECONDS = 2

/**
 * Has the simulator write a text as a contact, to the channel that answers to the contact use. Throws not_supported if
 * there is no simulator or the contact is not reached through it, contact_not_found, invalid_field if the contact has
 * no phone number, service_unavailable.
 */
export async function playCustomer(
  ctx: Pick<Context, 'database' | 'sandboxes'>,
  tenant: Tenant,
  contactId: string,
  text: string,
): Promise<void> {
  const sandboxes = requireSandboxes(ctx)
  const contact = await requireContact(ctx, tenant.id, contactId)
  if (isUserIdChatId(contact.chat_id)) {
    throw new Problem('invalid_field', 'The simulator writes as contacts with a phone number, and this one has none')
  }
  const channel = await findReplyChannel(ctx, tenant, contact)
  const to =
    channel.kind === 'sandbox' && channel.instance !== null
      ? { organizationId: tenant.id, name: channel.instance }
      : channel.kind === 'business_api' && channel.instance === null && tenant.upstream
        ? { phoneNumberId: tenant.upstream.phone_number_id }
        : null
  if (to === null) {
    throw new Problem(
      'not_supported',
      'This contact does not write through the simulator, so you cannot write as this customer',
    )
  }
  const message = { number: contact.chat_id, name: contact.full_name, text }
  const received = await sandboxes.receive(to, message, TIMEOUT_MS)
  if (received.outcome === 'done') return
  if (received.outcome === 'refused') throw new Problem('invalid_field', `The simulator refused: ${received.text}`)
  throw new Problem('service_unavailable', `The simulator cannot be reached: ${received.text}. Try again`, {
    retry_after: RETRY_SECONDS,
  })
}
