import type { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { receiveFile } from '../../lib/files/receive-file.js'
import { sizeText } from '../../lib/text/units.js'
import type { Cause } from '../../model/messages/cause.js'
import type { MessageContent } from '../../model/messages/content.js'
import { MEDIA_RULES } from '../../model/messages/media.js'
import type { Scheduled } from '../../model/messages/scheduled.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { requireContact } from '../contacts/find.js'
import { numberOf } from '../contacts/numbers.js'
import { chooseLaterChannel, openChosenChannel } from '../instances/send/chosen-channel.js'
import { withPrepared } from '../media/convert.js'
import type { SendResult } from '../messages/send/outcome.js'
import { sendMessage } from '../messages/send/send.js'
import { withArriving } from '../requests/arriving-files.js'
import { scheduleMessage } from '../scheduled/schedule.js'

/** The message types that are a file. */
export const FILE_KINDS = ['image', 'video', 'audio', 'document', 'sticker'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** A complete file in the spool. */
export interface SpooledFile {
  path: string
  /** Hexadecimal. */
  sha256: string
}

export interface FileSend {
  /** The id of the message to be recorded. */
  id: string
  contactId: string
  kind: FileKind
  path: string
  caption: string | null
  filename: string | null
  /** Whether a sound is sent as a voice note; null: if it is one already, or a browser's recording. */
  voice: boolean | null
  /** The message that it answers. */
  replyToId: string | null
  /** The instance that sends it; null: a business number. */
  instance: string | null
  /** The business number; null: the default. */
  from: string | null
  memberId: string
  cause: Cause
}

/** The name of the file in error messages. */
const FIELD = 'The file'
/** Formats that browsers record and WhatsApp does not accept. */
const RECORDINGS = ['video/webm', 'audio/webm', 'video/matroska', 'video/x-matroska', 'audio/x-matroska', 'audio/mp4']

/**
 * Receives a file into the spool and passes it to `work`; it is removed when the work ends. From its arrival until then it
 * counts as one of the organization's uploads in progress. Throws invalid_media, too_many_requests, service_unavailable.
 */
export function withSpooledFile<Result>(
  ctx: Pick<Context, 'limits' | 'spool'>,
  organizationId: string,
  { kind, source }: { kind: FileKind; source: Readable },
  work: (file: SpooledFile) => Promise<Result>,
): Promise<Result> {
  const { maxBytes } = MEDIA_RULES[kind]
  const { sentFiles } = ctx.limits
  sentFiles.check(organizationId)
  return withArriving(ctx, organizationId, source, (arriving) =>
    ctx.spool.use(async (path) => {
      const received = await receiveFile(arriving, path, maxBytes)
      switch (received.outcome) {
        case 'received': {
          const sha256 = received.sha256.toString('hex')
          return sentFiles.pass(organizationId, () => work({ path, sha256 }))
        }
        case 'too_big':
          throw tooBig(kind)
        case 'broken_off':
          throw new Problem(
            'invalid_media',
            'The upload ended before the file was complete, and the file was not sent: send it again',
            {
              reason: 'broken_off',
            },
          )
      }
    }),
  )
}

/** The problem of a file that exceeds the limit of its type. */
export function tooBig(kind: FileKind): Problem {
  const { maxBytes } = MEDIA_RULES[kind]
  return new Problem(
    'invalid_media',
    `${FIELD} cannot be used: it is too big; ${kind} messages may have at most ${sizeText(maxBytes)}`,
    { reason: 'too_big' },
  )
}

/**
 * Sends a file from the spool to a contact, converted if it must be. Throws invalid_media, not_supported (ffmpeg is
 * needed and missing), and like sendMessage and openChosenChannel.
 */
export async function sendFile(ctx: Context, tenant: Tenant, send: FileSend): Promise<SendResult> {
  const { id, contactId, replyToId, memberId, instance, from, cause } = send
  const contact = await requireContact(ctx, tenant.id, contactId)
  const to = numberOf(contact)
  const replyTo = replyToId === null ? null : { id: replyToId, field: 'context_message_id' }
  return withContent(ctx, tenant, send, async (content) => {
    const channel = await openChosenChannel(ctx, tenant, { instance, from, to, replyTo, content })
    const sender = { memberId, isPromotional: false, recipient: null, cause }
    return sendMessage(ctx, tenant, channel, { id, to, content, fileField: FIELD, replyTo, ...sender })
  })
}

/** The same for a file that is sent later. Throws like scheduleMessage and chooseLaterChannel. */
export async function scheduleFile(
  ctx: Context,
  tenant: Tenant,
  send: FileSend & { scheduledAt: Date },
): Promise<Scheduled> {
  const { contactId, replyToId, instance, from } = send
  const to = numberOf(await requireContact(ctx, tenant.id, contactId))
  const replyTo = replyToId === null ? null : { id: replyToId, field: 'context_message_id' }
  return withContent(ctx, tenant, send, async (content) => {
    const channel = await chooseLaterChannel(ctx, tenant, { instance, from, to, replyTo, content })
    return scheduleMessage(ctx, tenant, channel, { ...send, to, content, conversion: null, fileField: FIELD, replyTo })
  })
}

function withContent<Result>(
  ctx: Context,
  tenant: Tenant,
  send: FileSend,
  work: (content: MessageContent) => Promise<Result>,
): Promise<Result> {
  const { kind, path, caption, filename } = send
  switch (kind) {
    case 'document':
      return work({ type: kind, file: { path }, caption, filename })
    case 'image':
    case 'video':
      return work({ type: kind, file: { path }, caption })
    case 'sticker': {
      const conversion = { kind } as const
      const given = { organizationId: tenant.id, field: FIELD, source: { path }, conversion }
      return withPrepared(ctx, given, ({ file }) => work({ type: kind, file }))
    }
    case 'audio':
      return withSound(ctx, tenant, send, work)
  }
}

async function withSound<Result>(
  ctx: Context,
  tenant: Tenant,
  { path, voice: wanted }: FileSend,
  work: (content: MessageContent) => Promise<Result>,
): Promise<Result> {
  const type = await detectFileType(path)
  const isRecording = type !== null && RECORDINGS.includes(type)
  // Without a conversion, this only checks whether the file is a voice note already.
  const conversion = { kind: 'voice', encoding: isRecording || wanted === true } as const
  const given = { organizationId: tenant.id, field: FIELD, source: { path }, conversion }
  let isPrepared = false
  try {
    return await withPrepared(ctx, given, ({ file, voice }) => {
      isPrepared = true
      return work({ type: 'audio', file, voice: wanted ?? voice })
    })
  } catch (error) {
    const isUnprepared = !isPrepared && error instanceof Problem && error.code === 'not_supported'
    throw isUnprepared && isRecording ? notConvertible(type) : error
  }
}

function notConvertible(type: string): Problem {
  const { names } = MEDIA_RULES.audio
  return new Problem(
    'invalid_media',
    `${FIELD} is ${type} and must be converted, but this service has no ffmpeg: install ffmpeg where the service runs, or send ${names}`,
    { reason: 'not_convertible' },
  )
}
