import type { Context } from '../context.js'
import { isUniqueViolation } from '../database/errors.js'
import { newId } from '../lib/id.js'
import { localDate } from '../lib/local-date.js'
import type { Contact } from '../model/contact.js'
import type { TemplateContent } from '../model/message-content.js'
import type { Tenant } from '../model/organization.js'
import type { BroadcastRecipient } from '../model/outgoing-message.js'
import { hasPlaceholder } from '../model/placeholders.js'
import { Problem } from '../model/problem.js'
import type { Template } from '../model/template.js'
import { fillTemplate } from '../model/template-fill.js'
import { checkParameters, type TemplateParameters } from '../model/template-parameters.js'
import { findRecipientOfSingle, insertUnsentSingleRecipient } from '../storage/broadcast-recipients.js'
import { ensureSinglesCampaign } from '../storage/broadcasts.js'
import { findContactByAddresses, findContactById, insertContact } from '../storage/contacts.js'
import { readAddresses } from './contacts.js'
import { checkMember, openChannel, sendMessage } from './messages/send.js'
import { findSendResult, type SendResult } from './messages/settle.js'
import { chooseTemplate } from './templates.js'

/** A template that is to be sent to one person (spec 4.4). */
export interface TemplateCommand {
  /** Of the message and of the broadcast of one that it is. */
  id: string
  templateName: string
  language: string | undefined
  chatNumber: string
  parameters: TemplateParameters
  /** The address of the file above the body. */
  headerMedia: string | null
  memberId: string | null
}

/** What became of it. `not_sent`: nothing was recorded, for the reason in `text`. */
export interface TemplateSend {
  broadcastId: string
  contact: Pick<Contact, 'id' | 'full_name'>
  sent: SendResult | { result: 'not_sent'; isOptOut: boolean; text: string }
}

/**
 * Sends a template to one person, who becomes a contact where `bodyParameters.name` names one (spec 4.4). Throws invalid_provider,
 * template_not_found, contact_not_found, contact_blocked, missing_field and invalid_field (parameters, memberId), invalid_media,
 * too_many_requests, service_unavailable: nothing is sent then. What goes wrong at the upstream is a value.
 */
export async function sendTemplate(ctx: Context, tenant: Tenant, command: TemplateCommand): Promise<TemplateSend> {
  openChannel(ctx, tenant)
  await checkMember(ctx, tenant, command.memberId)
  const { id, templateName, language, headerMedia, memberId } = command
  const template = await chooseTemplate(ctx, tenant, templateName, language)
  const parameters = checkParameters(template, command.parameters, { hasHeaderMedia: headerMedia !== null })
  const contact = await findOrMakeContact(ctx, tenant, command)
  const content = fillFor(template, parameters, contact, headerMedia)
  const campaignId = await campaignOf(ctx, tenant, template)
  const recipient = { broadcastId: id, n: 0, campaignId, parameters }
  const message = { id, phone_number: contact.phone_number ?? contact.chat_id, content, about: null, memberId }
  const isPromotional = template.category === 'MARKETING'
  try {
    const sent = await sendMessage(ctx, tenant, { ...message, isPromotional, recipient })
    return { broadcastId: id, contact, sent }
  } catch (error) {
    const notSent = error instanceof Problem ? await keepUnsent(ctx, tenant, contact, recipient, error) : null
    if (notSent) return { broadcastId: id, contact, sent: notSent }
    throw error
  }
}

/** What became of a send whose own request cannot tell any more; null when nothing was sent. */
export async function findTemplateSend(ctx: Context, tenant: Tenant, id: string): Promise<TemplateSend | null> {
  const recipient = await findRecipientOfSingle(ctx.database, tenant.id, id)
  const sent = await findSendResult(ctx, tenant, id)
  if (!recipient?.contact_id || sent === null) return null
  const contact = await findContactById(ctx.database, tenant.id, recipient.contact_id)
  return { broadcastId: id, contact: contact ?? { id: recipient.contact_id, full_name: recipient.name }, sent }
}

async function findOrMakeContact(
  ctx: Context,
  tenant: Tenant,
  { chatNumber, parameters }: TemplateCommand,
): Promise<Contact> {
  const number = readAddresses(tenant, 'chatNumber', chatNumber, 'body')
  const known = await findContactByAddresses(ctx.database, tenant.id, number.forms)
  if (known) return known
  const name = parameters.body.name?.trim()
  if (!name || hasPlaceholder(name) || number.digits.startsWith('0')) {
    throw new Problem(
      'contact_not_found',
      `No contact with the number ${number.digits} in this organization: provide bodyParameters.name to create it automatically`,
      { chat_id: number.digits },
    )
  }
  const contact = {
    id: newId(),
    eventId: newId(),
    chat_id: number.digits,
    phone_number: `+${number.digits}`,
    addresses: number.forms,
    full_name: name,
    email: null,
    tags: [],
    allow_broadcast: true,
    source: { type: 'send_template_auto_create', created_at: ctx.clock().toISOString() },
  }
  try {
    return await insertContact(ctx.database, tenant.id, contact)
  } catch (error) {
    const faster = isUniqueViolation(error) ? await findContactByAddresses(ctx.database, tenant.id, number.forms) : null
    if (faster) return faster
    throw error
  }
}

function fillFor(
  template: Template,
  parameters: TemplateParameters,
  contact: Contact,
  headerMedia: string | null,
): TemplateContent<{ url: string }> {
  const header = headerMedia === null ? null : { file: { url: headerMedia }, filename: null }
  const filled = fillTemplate(template, parameters, contact, header)
  if (filled.outcome === 'filled') return filled.content
  throw new Problem('invalid_field', filled.text)
}

const MAX_CAMPAIGNS = 10_000
/** The campaigns of today's templates that this process has come across. */
const campaigns = new Map<string, string>()

/** With what a single is counted: all of its template, on this day of the organization. */
async function campaignOf(ctx: Context, tenant: Tenant, template: Template): Promise<string> {
  const at = ctx.clock()
  const day = localDate(at, tenant.timezone)
  const key = JSON.stringify([tenant.id, day, template.name, template.language])
  const known = campaigns.get(key)
  if (known !== undefined) return known
  const id = await ensureSinglesCampaign(ctx.database, tenant.id, { id: newId(), day, template, at })
  if (campaigns.size >= MAX_CAMPAIGNS) campaigns.clear()
  campaigns.set(key, id)
  return id
}

/** Who wants none, and what the upstream would not take the file for, counts as a broadcast of one all the same. */
async function keepUnsent(
  ctx: Context,
  tenant: Tenant,
  contact: Contact,
  { broadcastId, campaignId, parameters }: BroadcastRecipient,
  { code, message, extras }: Problem,
): Promise<Extract<TemplateSend['sent'], { result: 'not_sent' }> | null> {
  if (code !== 'contact_opted_out' && code !== 'upstream_upload_failed') return null
  const isOptOut = code === 'contact_opted_out'
  const text = typeof extras.details === 'string' ? `${message}: ${extras.details}` : message
  await insertUnsentSingleRecipient(ctx.database, tenant.id, {
    broadcastId,
    campaignId,
    contactId: contact.id,
    parameters,
    skipReason: isOptOut ? 'opted out' : null,
    error: isOptOut ? null : { code: Number(extras.upstream_code ?? 131053), text },
  })
  return { result: 'not_sent', isOptOut, text }
}
