import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import type { ChannelMessage } from '../../../storage/instances/messages.js'
import { findNewestMessage } from './find-messages.js'

/**
 * The newest message of the chat that a JID or number names. Throws contact_not_found if the instance has no such chat.
 */
export async function requireNewestMessage(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  jid: string,
): Promise<ChannelMessage> {
  const message = await findNewestMessage(ctx, organization, instance, jid)
  if (message !== null) return message
  throw new Problem('contact_not_found', `There is no chat with ${excerpt(jid)} on this instance`)
}
