import type { Context } from '../../context.js'
import { sizeText } from '../../lib/text/units.js'
import type { Cause } from '../../model/messages/cause.js'
import { type ContentWith, fileOf, type MessageContent, withFile } from '../../model/messages/content.js'
import {
  type KeptFile,
  MAX_SCHEDULED,
  MAX_SCHEDULED_BYTES,
  type Scheduled,
  type ScheduledCommand,
  type ScheduledLooks,
} from '../../model/messages/scheduled.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  findScheduled,
  hasRoomForScheduled,
  insertScheduled,
  type NewScheduled,
} from '../../storage/scheduled/scheduled.js'
import { contactNotFound } from '../contacts/find.js'
import { numberOf } from '../contacts/numbers.js'
import { removeUnattachedFile } from '../media/remove.js'
import { keepMedia } from '../media/upload.js'
import type { Channel } from '../messages/send/channel.js'
import { chooseNumber } from '../messages/send/choose-number.js'
import { describeContent } from '../messages/send/describe-content.js'
import { checkMember, checkMessage, type SendCommand } from '../messages/send/send.js'
import { type ConvertedSend, withConverted } from '../messages/send/send-converted.js'
import { checkTemplate, isPromotional, type TemplateCommand } from '../templates/send.js'

/** A message of `POST /send-chat` that is to be sent later. */
export interface LaterMessage
  extends Pick<ConvertedSend, 'id' | 'to' | 'content' | 'conversion' | 'fileField' | 'replyTo' | 'memberId' | 'cause'> {
  scheduledAt: Date
}

/**
 * Takes a message that is sent when its time has come. Recipient, reply target and file are checked now, and the file
 * is converted and stored. Throws what sendConverted throws for them, and too_many_scheduled; then no file is kept.
 */
export async function scheduleMessage(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  later: LaterMessage,
): Promise<Scheduled> {
  const { memberId, replyTo, to } = later
  await requireRoom(ctx, tenant)
  await checkMember(ctx, tenant, memberId)
  await checkLater(ctx, tenant, channel, { ...later, isPromotional: false })
  const contact = await ctx.lookUp.contact({ organizationId: tenant.id, addresses: to.forms })
  // It was erased since the check.
  if (contact === null) throw new Problem('contact_not_found', `No contact with the number ${to.digits}`)
  return withConverted(ctx, tenant, later, (content) =>
    keep(ctx, tenant, later, {
      instanceId: channel.instanceId,
      contactId: contact.id,
      content,
      shown: { ...looksOf(content), template: null, language: null },
      command: (kept) => ({ kind: 'chat', content: kept, replyTo }),
    }),
  )
}

/** The same for a template of `POST /send-template`; an unknown number becomes a contact now. Throws likewise. */
export async function scheduleTemplate(
  ctx: Context,
  tenant: Tenant,
  later: TemplateCommand & { from: string | null; scheduledAt: Date },
): Promise<Scheduled> {
  const openFor = await chooseNumber(ctx, tenant, { from: later.from, isTemplate: true })
  await requireRoom(ctx, tenant)
  const { template, contact, content } = await checkTemplate(ctx, tenant, later)
  const channel = await openFor(contact)
  const { parameters, parts } = later
  const { name: templateName, language } = template
  const message = { ...later, to: numberOf(contact), content, replyTo: null, isPromotional: isPromotional(template) }
  await checkLater(ctx, tenant, channel, message)
  return keep(ctx, tenant, later, {
    instanceId: channel.instanceId,
    contactId: contact.id,
    content,
    shown: { ...looksOf(content), template: templateName, language },
    command: () => ({ kind: 'template', templateName, language, parameters, parts }),
  })
}

/** Throws too_many_scheduled; call it before the contact of an unknown number is made. */
export async function requireRoom({ database }: Pick<Context, 'database'>, { id }: Pick<Tenant, 'id'>): Promise<void> {
  if (!(await hasRoomForScheduled(database, id))) throw tooMany()
}

/** A scheduled message by its id, also one that has ended; null if none was taken under the id. */
export function findScheduledMessage(
  { database }: Pick<Context, 'database'>,
  { id: organizationId }: Pick<Tenant, 'id'>,
  id: string,
): Promise<Scheduled | null> {
  return findScheduled(database, organizationId, id)
}

/** Checks the recipient and the reply target; the limit per recipient is long over then. */
function checkLater(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { scheduledAt, ...message }: Omit<SendCommand, 'recipient'> & { scheduledAt: Date },
): Promise<void> {
  const inMs = Math.max(0, scheduledAt.getTime() - ctx.clock().getTime())
  return checkMessage(ctx, tenant, channel, { command: { ...message, recipient: null }, inMs })
}

function looksOf(content: MessageContent): Omit<ScheduledLooks, 'template' | 'language'> {
  const { text, media_type, content: rest } = describeContent(content)
  return { message_type: content.type, text, media_type, content: rest }
}

/** What is stored of a checked message. */
interface Checked extends Pick<NewScheduled, 'instanceId' | 'contactId' | 'shown'> {
  content: MessageContent
  command: (kept: ContentWith<KeptFile>) => ScheduledCommand
}

/** What a request asks for, besides the message. */
interface Asked extends Pick<SendCommand, 'id' | 'fileField' | 'memberId'> {
  cause: Cause
  scheduledAt: Date
}

/** Stores the file and the message. */
async function keep(
  ctx: Context,
  tenant: Tenant,
  { id, memberId, cause, scheduledAt, fileField }: Asked,
  { content, command, ...checked }: Checked,
): Promise<Scheduled> {
  const kept = await keepFile(ctx, tenant, { id, fileField }, content)
  const { by, id: askerId, requestId, idempotencyKey } = cause
  const inserted = await insertScheduled(ctx.database, tenant.id, {
    ...checked,
    id,
    memberId,
    command: command(kept.content),
    fileSize: kept.fileSize,
    cause: { by, id: askerId, requestId, idempotencyKey },
    scheduledAt,
    createdAt: ctx.clock(),
  })
  if (inserted === 'inserted') return (await findScheduled(ctx.database, tenant.id, id)) as Scheduled
  if (kept.fileSize !== null) await removeUnattachedFile(ctx, tenant.id, id)
  throw inserted === 'too_many' ? tooMany() : contactNotFound(checked.contactId)
}

async function keepFile(
  ctx: Context,
  tenant: Tenant,
  { id, fileField }: Pick<SendCommand, 'id' | 'fileField'>,
  content: MessageContent,
): Promise<{ content: ContentWith<KeptFile>; fileSize: number | null }> {
  const source = fileOf(content)
  const given = source && { id, ...source, field: fileField ?? source.field }
  const { filename, size } = given ? await keepMedia(ctx, tenant, given) : { filename: null, size: null }
  return { content: withFile(content, { kept: true }, filename), fileSize: size }
}

function tooMany(): Problem {
  return new Problem(
    'too_many_scheduled',
    `An organization may have ${MAX_SCHEDULED} scheduled messages, of ${sizeText(MAX_SCHEDULED_BYTES)} together with their files: cancel some (DELETE /scheduled/{id}), or send this one later`,
  )
}
