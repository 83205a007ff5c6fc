import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { localDate } from '../../lib/text/calendar.js'
import { excerpt } from '../../lib/text/text.js'
import type { Contact } from '../../model/contacts/contact.js'
import { MAX_FULL_NAME } from '../../model/contacts/contact-input.js'
import type { ContactNumber } from '../../model/contacts/written-number.js'
import type { Cause } from '../../model/messages/cause.js'
import type { TemplateContent } from '../../model/messages/content.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import { fillTemplate } from '../../model/templates/fill.js'
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
import { createContact } from '../contacts/contacts.js'
import { type GivenNumber, numberOf, requireNumber } from '../contacts/numbers.js'
import { organizationChannel } from '../messages/send/channel.js'
import { findSendResult, type SendResult } from '../messages/send/outcome.js'
import { checkMember, sendMessage } from '../messages/send/send.js'
import { chooseTemplate } from './templates.js'

/** A template to be sent to one person. */
export interface TemplateCommand {
  /** The id of the message and of its one-off send. */
  id: string
  templateName: string
  language: string | undefined
  to: GivenNumber
  parameters: TemplateParameters
  /** The URL of the header's file. */
  headerMedia: string | null
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
  text: string
}

/**
 * Sends a template to one person; an unknown number becomes a contact if `bodyParameters.name` is a name. Refusals
 * throw, and nothing is sent: invalid_provider, template_not_found, recipient_not_found, contact_blocked, missing_field
 * and invalid_field (parameters, memberId), invalid_media, too_many_requests, service_unavailable. Errors of the
 * upstream are returned as a value.
 */
export async function sendTemplate(ctx: Context, tenant: Tenant, command: TemplateCommand): Promise<TemplateSend> {
  const channel = organizationChannel(ctx, tenant)
  await checkMember(ctx, tenant, command.memberId)
  const { id, templateName, language, headerMedia, memberId, cause } = command
  const template = await tryToChoose(ctx, tenant, templateName, language)
  const number = await requireNumber(ctx, tenant, command.to, { field: 'api', place: 'body' })
  const known = await findContactByAddresses(ctx.database, tenant.id, number.forms)
  if (known) checkHasNumber(template, known, command.to)
  const person = known ?? newContactPerson(number, command.parameters.body.name)
  if (template instanceof Problem) {
    const contact = known ?? (await makeContact(ctx, tenant, person))
    const campaignId = await campaignOf(ctx, tenant, unknownTemplate(templateName, language ?? tenant.language))
    const recipient = { broadcastId: id, campaignId, contactId: contact.id, parameters: command.parameters }
    return { broadcastId: id, contact, sent: await recordFailed(ctx, tenant, recipient, template) }
  }
  const check = { hasHeaderMedia: headerMedia !== null, hasParts: true }
  const parameters = checkParameters(template, command.parameters, check)
  const named = { ...person, unnamed: unnamedWord(tenant) }
  const parts = fillParts(template, command.parts, named)
  const content = { ...fillFor(template, parameters, named, headerMedia), parts }
  const contact = known ?? (await makeContact(ctx, tenant, person))
  const campaignId = await campaignOf(ctx, tenant, template)
  const recipient = { broadcastId: id, n: 0, campaignId, parameters }
  const ofCards = command.parts.cards.map((card) => card.parameters.buttons)
  const links = [parameters.buttons, ...ofCards].flatMap((values) =>
    Object.values(values).map((value) => ({ n: 0, value })),
  )
  await recordSentLinks(ctx.database, tenant.id, { broadcastId: id, campaignId, at: ctx.clock() }, links)
  const to = numberOf(contact)
  const message = { id, to, content, replyTo: null, memberId, cause }
  const isPromotional = template.category === 'MARKETING'
  try {
    const sent = await sendMessage(ctx, tenant, channel, { ...message, isPromotional, recipient })
    return { broadcastId: id, contact, sent }
  } catch (error) {
    const unsent = { ...recipient, contactId: contact.id }
    const notSent = error instanceof Problem ? await recordUnsent(ctx, tenant, unsent, error) : null
    if (notSent) return { broadcastId: id, contact, sent: notSent }
    throw error
  }
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
  const sent = (await findSendResult(ctx, tenant, id)) ?? { result: 'not_sent', isOptOut, text: error?.text ?? '' }
  const contact = await findContactById(ctx.database, tenant.id, contactId)
  return { broadcastId: id, contact: contact ?? { id: contactId, full_name: name }, sent }
}

/** Throws invalid_field if the template needs a phone number and the contact has none. */
function checkHasNumber(template: StoredTemplate | Problem, contact: Contact, { name, value }: GivenNumber): void {
  if (template instanceof Problem || !needsPhoneNumber(template) || contact.phone_number !== null) return
  throw new Problem(
    'invalid_field',
    `${name} "${excerpt(value)}" is a person without a phone number, and the template ${template.name} is for authentication, which WhatsApp sends to phone numbers only: ask the person for the number first`,
  )
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

async function makeContact(ctx: Context, tenant: Tenant, { phone_number, full_name }: Person): Promise<Contact> {
  const source = { type: 'send_template_auto_create', created_at: ctx.clock().toISOString() }
  try {
    return await createContact(ctx, tenant, { phone_number, full_name, source }, newId())
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'contact_exists') throw error
    // Another request created the contact first.
    const contact = await findContactById(ctx.database, tenant.id, String(error.extras.id))
    if (contact) return contact
    throw error
  }
}

function fillFor(
  template: Template,
  parameters: TemplateParameters,
  person: Person,
  headerMedia: string | null,
): TemplateContent<{ url: string }> {
  const header = headerMedia === null ? null : { file: { url: headerMedia }, filename: null }
  const filled = fillTemplate(template, parameters, person, header)
  if (filled.outcome === 'filled') return filled.content
  throw new Problem('invalid_field', filled.text)
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
async function recordUnsent(
  ctx: Context,
  tenant: Tenant,
  recipient: UnsentRecipient,
  problem: Problem,
): Promise<NotSent | null> {
  const { code, message, extras } = problem
  if (code === 'upstream_upload_failed') return recordFailed(ctx, tenant, recipient, problem)
  if (code !== 'contact_opted_out') return null
  const skipped = { skipReason: String(extras.reason), error: null }
  await insertUnsentOneOffRecipient(ctx.database, tenant.id, { ...recipient, ...skipped })
  return { result: 'not_sent', isOptOut: true, text: message }
}

async function recordFailed(
  ctx: Context,
  tenant: Tenant,
  recipient: UnsentRecipient,
  { code, message, extras }: Problem,
): Promise<NotSent> {
  const words = typeof extras.details === 'string' ? `${message}: ${extras.details}` : message
  const text = code === 'upstream_upload_failed' ? words : `${PROBLEMS[code]}: ${words}`
  const error = { code: typeof extras.upstream_code === 'number' ? extras.upstream_code : code, text }
  await insertUnsentOneOffRecipient(ctx.database, tenant.id, { ...recipient, skipReason: null, error })
  return { result: 'not_sent', isOptOut: false, text }
}
