import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { localDate } from '../../lib/text/calendar.js'
import { excerpt } from '../../lib/text/text.js'
import { type Contact, isGroup } from '../../model/contacts/contact.js'
import { MAX_FULL_NAME } from '../../model/contacts/contact-input.js'
import type { ContactNumber } from '../../model/contacts/written-number.js'
import type { Cause } from '../../model/messages/cause.js'
import type { FileSource, TemplateContent } from '../../model/messages/content.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import { fillTemplate, type HeaderMedia } from '../../model/templates/fill.js'
import { fillParts, type GivenParts } from '../../model/templates/fill-parts.js'
import { checkParameters, type TemplateParameters } from '../../model/templates/parameters.js'
import { hasPlaceholder, type Person, toParameterText, unnamedWord } from '../../model/templates/placeholders.js'
import { needsPhoneNumber, type StoredTemplate, type Template } from '../../model/templates/template.js'
import { ensureOneOffCampaign } from '../../storage/broadcasts/broadcasts.js'
import {
  findRecipientOfOneOff,
  insertUnsentOneOffRecipient,
  type UnsentOneOff,
} from '../../storage/broadcasts/one-off-sends.js'
import { findContactByAddresses, findContactById } from '../../storage/contacts/contacts.js'
import { recordSentLinks } from '../../storage/storefront/sent-links.js'
import { ensureContact } from '../contacts/ensure.js'
import { type GivenNumber, numberOf, requireNumber } from '../contacts/numbers.js'
import type { Channel } from '../messages/send/channel.js'
import { chooseNumber, type OpenNumber } from '../messages/send/choose-number.js'
import { findSendResult, type SendResult } from '../messages/send/outcome.js'
import { checkMember, type SendCommand, sendMessage } from '../messages/send/send.js'
import { chooseTemplate } from './templates.js'

/** A template to be sent to one person. */
export interface TemplateCommand {
  /** The id of the message and of its one-off send. */
  id: string
  templateName: string
  language: string | undefined
  /** The number or user id as it was given, or a known contact. */
  recipient: { to: GivenNumber } | { contact: Contact }
  parameters: TemplateParameters
  /** The header's file. */
  headerMedia: HeaderMedia<FileSource> | null
  /** What fills the parts of the template that are no variables. */
  parts: GivenParts
  memberId: string | null
  cause: Cause
}

/** The result of a send. `not_sent`: nothing was recorded, for the reason in `text`. */
export interface TemplateSend {
  broadcastId: string
  contact: Pick<Contact, 'id' | 'full_name'>
  sent: SendResult | NotSent
}

interface NotSent {
  result: 'not_sent'
  isOptOut: boolean
  /** The upstream's code, or one of ours. */
  code: number | string
  text: string
}

/** A template of which nothing is recorded yet. */
export interface UnsentTemplate extends NotSent {
  problem: Problem
  recipient: UnsentOneOff
}

/**
 * Sends a template to one person; an unknown number becomes a contact if `bodyParameters.name` is a name. Refusals
 * throw, and nothing is sent: invalid_provider, template_not_found, recipient_not_found, contact_blocked, missing_field
 * and invalid_field (parameters, memberId), invalid_media, too_many_requests, service_unavailable. Errors of the
 * upstream are returned as a value.
 */
export async function sendTemplate(
  ctx: Context,
  tenant: Tenant,
  command: TemplateCommand & { from: string | null },
): Promise<TemplateSend> {
  const openFor = await chooseNumber(ctx, tenant, { from: command.from, isTemplate: true })
  const send = (channel: Channel, message: SendCommand) => sendMessage(ctx, tenant, channel, message)
  const { contact, sent } = await tryTemplate(ctx, tenant, command, { openFor, send })
  if (sent.result === 'not_sent') await insertUnsentOneOffRecipient(ctx.database, tenant.id, sent.recipient)
  return { broadcastId: command.id, contact, sent }
}

/** The same with another way to choose the number and to send the message; records nothing if it is not sent. */
export async function tryTemplate<Sent extends { result: string }>(
  ctx: Context,
  tenant: Tenant,
  command: TemplateCommand,
  { openFor, send }: { openFor: OpenNumber; send: (channel: Channel, message: SendCommand) => Promise<Sent> },
): Promise<{ contact: Contact; sent: Sent | UnsentTemplate }> {
  await checkMember(ctx, tenant, command.memberId)
  const { id, templateName, language, memberId, cause } = command
  const template = await tryToChoose(ctx, tenant, templateName, language)
  const { known, person } = await findRecipient(ctx, tenant, command)
  if (template instanceof Problem) {
    const contact = known ?? (await makeContact(ctx, tenant, person))
    const campaignId = await campaignOf(ctx, tenant, unknownTemplate(templateName, language ?? tenant.language))
    const recipient = { broadcastId: id, campaignId, contactId: contact.id, parameters: command.parameters }
    return { contact, sent: toFailed(recipient, template) }
  }
  const { parameters, content } = fillFor(tenant, template, person, command)
  const contact = known ?? (await makeContact(ctx, tenant, person))
  const campaignId = await campaignOf(ctx, tenant, template)
  const recipient = { broadcastId: id, n: 0, campaignId, parameters }
  const ofCards = command.parts.cards.map((card) => card.parameters.buttons)
  const links = [parameters.buttons, ...ofCards].flatMap((values) =>
    Object.values(values).map((value) => ({ n: 0, value })),
  )
  await recordSentLinks(ctx.database, tenant.id, { broadcastId: id, campaignId, at: ctx.clock() }, links)
  const to = numberOf(contact)
  const message = { id, to, content, replyTo: null, memberId, cause, isPromotional: isPromotional(template), recipient }
  try {
    return { contact, sent: await send(await openFor(contact), message) }
  } catch (error) {
    const unsent = { broadcastId: id, campaignId, parameters, contactId: contact.id }
    const notSent = error instanceof Problem ? toUnsent(unsent, error) : null
    if (notSent) return { contact, sent: notSent }
    throw error
  }
}

/** A template that could be sent now. */
export interface CheckedTemplate {
  template: StoredTemplate
  contact: Contact
  content: TemplateContent<FileSource>
}

/**
 * Checks a template that is to be sent later, except for the contact's consent; an unknown number becomes a contact.
 * Throws like sendTemplate, and upstream_unavailable if the templates cannot be listed.
 */
export async function checkTemplate(
  ctx: Context,
  tenant: Tenant,
  command: Omit<TemplateCommand, 'id' | 'cause'>,
): Promise<CheckedTemplate> {
  await checkMember(ctx, tenant, command.memberId)
  const template = await chooseTemplate(ctx, tenant, command.templateName, command.language)
  const { known, person } = await findRecipient(ctx, tenant, command)
  const { content } = fillFor(tenant, template, person, command)
  return { template, contact: known ?? (await makeContact(ctx, tenant, person)), content }
}

/** Whether contacts that do not allow broadcasts must not get it. */
export function isPromotional({ category }: Pick<Template, 'category'>): boolean {
  return category === 'MARKETING'
}

/** The contact, or the person that an unknown number would become. Throws recipient_not_found, invalid_field. */
async function findRecipient(
  ctx: Context,
  tenant: Tenant,
  { recipient, parameters }: Pick<TemplateCommand, 'recipient' | 'parameters'>,
): Promise<{ known: Contact | null; person: Person }> {
  if ('contact' in recipient) return { known: recipient.contact, person: recipient.contact }
  const number = await requireNumber(ctx, tenant, recipient.to, { field: 'api', place: 'body' })
  const known = await findContactByAddresses(ctx.database, tenant.id, number.forms)
  return { known, person: known ?? newContactPerson(number, parameters.body.name) }
}

const UPSTREAM_PROBLEMS = new Set(['upstream_credentials', 'upstream_unavailable', 'too_many_requests'])

/** The template; or the upstream's error if no template is known and the upstream cannot list them. */
async function tryToChoose(
  ctx: Context,
  tenant: Tenant,
  name: string,
  language: string | undefined,
): Promise<StoredTemplate | Problem> {
  try {
    return await chooseTemplate(ctx, tenant, name, language)
  } catch (error) {
    if (error instanceof Problem && UPSTREAM_PROBLEMS.has(error.code)) return error
    throw error
  }
}

/** Stands for a template that is known only by its name. */
function unknownTemplate(name: string, language: string): StoredTemplate {
  const unknown = { status: 'UNKNOWN', category: 'UNKNOWN', parameter_format: 'POSITIONAL' } as const
  return { organization_id: '', upstream_id: null, name, language, ...unknown, components: [], synced_at: new Date(0) }
}

/** The result of an earlier send whose request did not see it; null if it left nothing. */
export async function findTemplateSend(ctx: Context, tenant: Tenant, id: string): Promise<TemplateSend | null> {
  const recipient = await findRecipientOfOneOff(ctx.database, tenant.id, id)
  if (!recipient?.contact_id) return null
  const { contact_id: contactId, name, status, error } = recipient
  const isOptOut = status === 'skipped'
  const { code, text } = error ?? { code: isOptOut ? 'contact_opted_out' : '', text: '' }
  const sent = (await findSendResult(ctx, tenant, id)) ?? { result: 'not_sent', isOptOut, code, text }
  const contact = await findContactById(ctx.database, tenant.id, contactId)
  return { broadcastId: id, contact: contact ?? { id: contactId, full_name: name }, sent }
}

/** The person that an unknown number would become. Throws recipient_not_found if no name is given. */
function newContactPerson({ kind, digits, userId }: ContactNumber, givenName = ''): Person {
  if (userId !== undefined) {
    const message = `No contact with the user id ${userId} in this organization: create the contact first (POST /contact)`
    throw new Problem('recipient_not_found', message, { chat_id: digits })
  }
  const name = toParameterText(givenName)
  if (name === '' || hasPlaceholder(name) || kind !== 'phone') {
    throw new Problem(
      'recipient_not_found',
      `No contact with the number ${digits} in this organization: provide bodyParameters.name (a name, not a placeholder) to create it automatically`,
      { chat_id: digits },
    )
  }
  if ([...name].length > MAX_FULL_NAME) {
    const message = `bodyParameters.name must have at most ${MAX_FULL_NAME} characters: it becomes the name of a new contact`
    throw new Problem('invalid_field', message)
  }
  return { full_name: name, email: null, phone_number: `+${digits}`, chat_id: digits }
}

function makeContact(ctx: Context, tenant: Tenant, { phone_number, full_name }: Person): Promise<Contact> {
  return ensureContact(ctx, tenant, { phone_number, user_id: null, full_name, source: 'send_template_auto_create' })
}

/** Fills the template for one person. Throws missing_field and invalid_field. */
function fillFor(
  tenant: Tenant,
  template: Template,
  person: TemplatePerson,
  { recipient, parameters: given, parts, headerMedia }: TemplateFilling,
): { parameters: TemplateParameters; content: TemplateContent<FileSource> } {
  checkHasNumber(template, person, recipient)
  const parameters = checkParameters(template, given, { hasHeaderMedia: headerMedia !== null, hasParts: true })
  const named = { ...person, unnamed: unnamedWord(tenant) }
  const filledParts = fillParts(template, parts, named)
  const filled = fillTemplate(template, parameters, named, headerMedia)
  if (filled.outcome === 'missing') throw new Problem('invalid_field', filled.text)
  return { parameters, content: { ...filled.content, parts: filledParts } }
}

/** What a command fills a template with, and for whom. */
type TemplateFilling = Pick<TemplateCommand, 'recipient' | 'parameters' | 'parts' | 'headerMedia'>

/** A person, or a group (told by its `network_id`). Who is no contact yet has no `network_id`. */
type TemplatePerson = Person & Partial<Pick<Contact, 'network_id'>>

/** Throws invalid_field if the template needs a phone number and the person has none. */
function checkHasNumber(template: Template, person: TemplatePerson, recipient: TemplateCommand['recipient']): void {
  if (!needsPhoneNumber(template) || person.phone_number !== null) return
  const who = 'to' in recipient ? `${recipient.to.name} "${excerpt(recipient.to.value)}"` : person.chat_id
  const inGroup = isGroup({ network_id: person.network_id ?? null })
  const [what, advice] = inGroup
    ? ['a group', 'send it to the member instead']
    : ['a person without a phone number', 'ask the person for the number first']
  throw new Problem(
    'invalid_field',
    `${who} is ${what}, and the template ${template.name} is for authentication, which WhatsApp sends to phone numbers only: ${advice}`,
  )
}

/** The campaign that counts a one-off send: all sends of its template on this day of the organization. */
async function campaignOf(ctx: Context, tenant: Tenant, template: StoredTemplate): Promise<string> {
  const at = ctx.clock()
  const day = localDate(at, tenant.timezone)
  // A template that was changed since may have other buttons, and clicks are counted by button.
  const key = JSON.stringify([tenant.id, day, template.name, template.language, template.synced_at])
  const known = ctx.oneOffCampaigns.get(key)
  if (known !== undefined) return known
  const id = await ensureOneOffCampaign(ctx.database, tenant.id, { id: newId(), day, template, at })
  ctx.oneOffCampaigns.set(key, id)
  return id
}

/** The recipient of a one-off send whose message was not recorded. */
type UnsentRecipient = Omit<UnsentOneOff, 'skipReason' | 'error'>

/** A send that was refused because of an opt-out or a failed upload still counts as a one-off send. */
function toUnsent(recipient: UnsentRecipient, problem: Problem): UnsentTemplate | null {
  const { code, message: text, extras } = problem
  if (code === 'upstream_upload_failed') return toFailed(recipient, problem)
  if (code !== 'contact_opted_out') return null
  const skipped = { ...recipient, skipReason: String(extras.reason), error: null }
  return { result: 'not_sent', isOptOut: true, code, text, problem, recipient: skipped }
}

function toFailed(recipient: UnsentRecipient, problem: Problem): UnsentTemplate {
  const { code, message, extras } = problem
  const words = typeof extras.details === 'string' ? `${message}: ${extras.details}` : message
  const text = code === 'upstream_upload_failed' ? words : `${PROBLEMS[code]}: ${words}`
  const error = { code: typeof extras.upstream_code === 'number' ? extras.upstream_code : code, text }
  return {
    result: 'not_sent',
    isOptOut: false,
    ...error,
    problem,
    recipient: { ...recipient, skipReason: null, error },
  }
}
