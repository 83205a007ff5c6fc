import type { Context } from '../../../context.js'
import { fileOf, type MessageContent } from '../../../model/messages/content.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { type FileConversion, type Prepared, withPrepared } from '../../media/convert.js'
import type { Channel } from './channel.js'
import type { SendResult } from './outcome.js'
import { checkMember, checkMessage, type SendCommand, sendMessage } from './send.js'

/** A message with the format that its file is converted to; null: none. */
export interface ConvertedSend extends SendCommand {
  conversion: FileConversion | null
}

/**
 * Sends one message like sendMessage, after its file was converted. Member, contact and reply target are checked before
 * the file is fetched. Also throws not_supported if the file must be converted and ffmpeg is missing.
 */
export async function sendConverted(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { conversion, ...command }: ConvertedSend,
): Promise<SendResult> {
  const { content } = command
  const given = fileOf(content)
  if (conversion === null || given === null) return sendMessage(ctx, tenant, channel, command)
  await checkMember(ctx, tenant, command.memberId)
  await checkMessage(ctx, tenant, channel, { command, inMs: 0 })
  const { source } = given
  const file = { organizationId: tenant.id, field: command.fileField ?? given.field, source, conversion }
  return withPrepared(ctx, file, (prepared) =>
    sendMessage(ctx, tenant, channel, { ...command, content: withPreparedFile(content, prepared) }),
  )
}

/** The message with its converted file. Only sounds and stickers are converted. */
export function withPreparedFile(content: MessageContent, { file, voice }: Prepared): MessageContent {
  if (content.type === 'audio') return { ...content, file, voice }
  return content.type === 'sticker' ? { ...content, file } : content
}
