import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import type { UploadedPart } from '../../model/broadcasts/broadcast.js'
import { isUserIdChatId } from '../../model/contacts/phone-number.js'
import { Problem } from '../../model/problem.js'
import { readParameters, type TemplateParameters } from '../../model/templates/parameters.js'
import type { Template } from '../../model/templates/template.js'
import { addUtmCampaignsOfBroadcast, type ListedRecipient, listRecipients } from '../../storage/broadcasts/audiences.js'
import { findUploadedRecipients, type UploadedRecipient } from '../../storage/broadcasts/uploaded-audiences.js'
import { type ButtonValue, recordSentLinks } from '../../storage/storefront/sent-links.js'

/** A listed recipient; its own parameters override those of the broadcast. */
export interface RecipientInput {
  chatNumber: string
  name?: string | null
  bodyParameters?: Record<string, string> | null
  buttonParameters?: Record<string, string> | null
}

/** A recipient as given: with a number, or as the id of a contact. */
export type ListedInput = RecipientInput | string

/** The broadcast that recipients are listed for. */
export interface ListingBroadcast {
  organization_id: string
  id: string
  template: Template
  created_at: Date
}

/** Lists recipients of a broadcast after number `after`, and the links that their own parameters give away. */
export async function listBatch(
  transaction: Queryable,
  broadcast: ListingBroadcast,
  batch: readonly ListedInput[],
  after: number,
): Promise<void> {
  const listed = batch.map((given, k) => toListed(broadcast.template, given, after + k))
  await record(transaction, broadcast, listed, after)
}

/** Lists the next recipients of an uploaded audience; resolves to how many. */
export async function listUploaded(
  transaction: Queryable,
  broadcast: ListingBroadcast,
  uploaded: UploadedPart,
  { after, limit }: { after: number; limit: number },
): Promise<number> {
  const { organization_id, template } = broadcast
  const taken = after - uploaded.after
  const rows = await findUploadedRecipients(transaction, organization_id, uploaded.id, { after: taken, limit })
  const listed = rows.map((row) => fromUploaded(template, uploaded, row))
  if (listed.length > 0) await record(transaction, broadcast, listed, after)
  return listed.length
}

async function record(
  transaction: Queryable,
  { organization_id, id, created_at }: ListingBroadcast,
  listed: readonly ListedRecipient[],
  after: number,
): Promise<void> {
  await listRecipients(transaction, organization_id, id, { recipients: listed, after })
  const sender = { broadcastId: id, campaignId: id, at: created_at }
  const campaigns = await recordSentLinks(transaction, organization_id, sender, ownValuesOf(listed, after + 1))
  await addUtmCampaignsOfBroadcast(transaction, organization_id, id, campaigns)
}

function toListed(template: Template, given: ListedInput, index: number): ListedRecipient {
  const messageId = newId()
  if (typeof given === 'string') return { contactId: given, number: null, name: null, parameters: null, messageId }
  const { chatNumber, name } = given
  const parameters = readOwnParameters(template, given, index)
  return { contactId: null, number: chatNumber, name: name ?? null, parameters, messageId }
}

/**
 * A recipient's own parameters under the template's names. Missing ones are detected when the message is sent. Throws
 * invalid_field for one that the template does not take.
 */
export function readOwnParameters(
  template: Template,
  { bodyParameters, buttonParameters }: RecipientInput,
  index: number,
): OwnParameters | null {
  const { parameters, surplus: all } = assign(template, bodyParameters ?? {}, buttonParameters ?? {})
  const [surplus] = all
  if (surplus === undefined) return parameters
  throw new Problem(
    'invalid_field',
    `audience.recipients[${index}].${surplus} is not a parameter of the template "${template.name}"`,
  )
}

type OwnParameters = Pick<TemplateParameters, 'body' | 'buttons'>

function assign(template: Template, body: Record<string, string>, buttons: Record<string, string>) {
  if (Object.keys(body).length + Object.keys(buttons).length === 0) return { parameters: null, surplus: [] }
  const { parameters, surplus } = readParameters(template, { body, header: {}, buttons }, false)
  return { parameters: { body: parameters.body, buttons: parameters.buttons }, surplus }
}

/** The names were checked when the broadcast was created. Each row gets all of them, since their order may count. */
function fromUploaded(
  template: Template,
  { body, buttons }: UploadedPart,
  { address, name, parameters }: UploadedRecipient,
): ListedRecipient {
  const own = parameters && assign(template, fill(body, parameters.body), fill(buttons, parameters.buttons)).parameters
  return { contactId: null, number: toNumber(address), name, parameters: own, messageId: newId() }
}

/** An address as a request gives it. */
export function toNumber(address: string | null): string | null {
  return address === null || isUserIdChatId(address) ? address : `+${address}`
}

/** Blank values count as missing. */
function fill(names: readonly string[], values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(values, name) ? (values[name] as string) : '']))
}

/** The recipients' own button parameters; the first recipient has the number `from`. */
function ownValuesOf(listed: readonly ListedRecipient[], from: number): ButtonValue[] {
  return listed.flatMap(({ parameters }, index) => {
    const { buttons = {} } = (parameters ?? {}) as { buttons?: Record<string, string> }
    return Object.values(buttons).map((value) => ({ n: from + index, value }))
  })
}
