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
  if (conversion !== null) {
    await checkMember(ctx, tenant, command.memberId)
    await checkMessage(ctx, tenant, channel, { command, inMs: 0 })
  }
  return withConverted(ctx, tenant, { conversion, ...command }, (content) =>
    sendMessage(ctx, tenant, channel, { ...command, content }),
  )
}

/** A message whose file may have to be converted. */
type Convertible = Pick<ConvertedSend, 'content' | 'conversion' | 'fileField'>

/** Has the message with its file converted while `work` runs. Throws like withPrepared. */
export function withConverted<Result>(
  ctx: Context,
  tenant: Tenant,
  { content, conversion, fileField }: Convertible,
  work: (content: MessageContent) => Promise<Result>,
): Promise<Result> {
  const given = fileOf(content)
  if (conversion === null || given === null) return work(content)
  const file = { organizationId: tenant.id, field: fileField ?? given.field, source: given.source, conversion }
  return withPrepared(ctx, file, (prepared) => work(withPreparedFile(content, prepared)))
}

/** The message with its converted file. Only sounds and stickers are converted. */
function withPreparedFile(content: MessageContent, { file, voice }: Prepared): MessageContent {
  if (content.type === 'audio') return { ...content, file, voice }
  return content.type === 'sticker' ? { ...content, file } : content
}
