import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Audience, Broadcast } from '../../model/broadcasts/broadcast.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { checkParameters, readParameters, type TemplateParameters } from '../../model/templates/parameters.js'
import { fileKindOf, type Template } from '../../model/templates/template.js'
import { addUtmCampaignsOfBroadcast, type ListedRecipient, listRecipients } from '../../storage/broadcasts/audiences.js'
import { findBroadcast, insertBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { type ButtonValue, recordSentLinks } from '../../storage/storefront/sent-links.js'
import { removeUnattachedFile } from '../media/remove.js'
import { type MediaInput, type UploadedMedia, uploadMedia } from '../media/upload.js'
import { organizationChannel } from '../messages/send/channel.js'
import { chooseTemplate } from '../templates/templates.js'
import { prepareBroadcast } from './prepare.js'

/** A listed recipient; its own parameters override those of the broadcast. */
export interface RecipientInput {
  chatNumber: string
  name?: string | null
  bodyParameters?: Record<string, string> | null
  buttonParameters?: Record<string, string> | null
}

/** The recipients of a broadcast: listed ones, and those selected by tags. */
export type AudienceInput = Audience & { contactIds?: string[]; recipients?: RecipientInput[] }

export interface BroadcastCommand {
  id: string
  name: string
  templateName: string
  language: string | undefined
  parameters: TemplateParameters
  headerMedia: string | null
  audience: AudienceInput
  scheduledAt: Date | null
}

const LIST_BATCH = 5_000
const CHECK_BATCH = 1_000
/** Maximum time that the request prepares recipients; a job prepares the rest. */
const PREPARING_MS = 1_500

/**
 * Creates a broadcast. Its audience is the contacts that exist now; small audiences are counted when this resolves.
 * Throws invalid_provider, template_not_found, missing_field and invalid_field for parameters, and the errors of
 * uploadMedia.
 */
export async function createBroadcast(ctx: Context, tenant: Tenant, command: BroadcastCommand): Promise<Broadcast> {
  const { driver } = organizationChannel(ctx, tenant)
  const { contactIds = [], recipients = [], ...audience } = command.audience
  const template = await chooseTemplate(ctx, tenant, command.templateName, command.language)
  const isListOnly = contactIds.length === 0 && !audience.tags && !audience.all
  const check = { hasHeaderMedia: command.headerMedia !== null, mayLack: isListOnly }
  const parameters = checkParameters(template, command.parameters, check)
  await checkOwnParameters(template, recipients)
  const listed = listInOrder(command.audience)

  const header = toFile(template, command.headerMedia)
  const mediaId = header?.id ?? null
  const file = header && (await uploadMedia(ctx, tenant, driver, header))
  try {
    await store(ctx, tenant, command, { template, parameters, audience, listed, mediaId, file })
  } catch (error) {
    if (mediaId !== null) await removeUnattachedFile(ctx, tenant.id, mediaId)
    throw error
  }
  await tryToPrepare(ctx, tenant, command.id)
  ctx.wakeWorkers()
  return (await findBroadcast(ctx.database, tenant.id, command.id)) as Broadcast
}

/** Only to return counts in the answer: if this fails, the broadcast's job prepares the recipients. */
async function tryToPrepare(ctx: Context, tenant: Tenant, broadcastId: string): Promise<void> {
  try {
    await prepareBroadcast(ctx, tenant.id, broadcastId, PREPARING_MS)
  } catch (error) {
    ctx.log.warn(
      { err: error, organizationId: tenant.id, broadcastId },
      'a broadcast could not be prepared in its request',
    )
  }
}

/** A recipient as given: with a number, or as the id of a contact. */
type ListedInput = RecipientInput | string

/** The listed recipients, in the order in which they are prepared. */
export function listInOrder({ contactIds = [], recipients = [] }: AudienceInput): ListedInput[] {
  return [...recipients, ...contactIds]
}

function toListed(template: Template, given: ListedInput, index: number): ListedRecipient {
  const messageId = newId()
  if (typeof given === 'string') return { contactId: given, number: null, name: null, parameters: null, messageId }
  const { chatNumber, name } = given
  const parameters = readOwnParameters(template, given, index)
  return { contactId: null, number: chatNumber, name: name ?? null, parameters, messageId }
}

/** Yields to other requests, since a million recipients take seconds. */
async function checkOwnParameters(template: Template, recipients: readonly RecipientInput[]): Promise<void> {
  for (const [index, recipient] of recipients.entries()) {
    readOwnParameters(template, recipient, index)
    if (index % CHECK_BATCH === CHECK_BATCH - 1) await setImmediate()
  }
}

/** A recipient's own parameters under the template's names. Missing ones are detected when the message is sent. */
function readOwnParameters(
  template: Template,
  { bodyParameters, buttonParameters }: RecipientInput,
  index: number,
): Pick<TemplateParameters, 'body' | 'buttons'> | null {
  const given = { body: bodyParameters ?? {}, header: {}, buttons: buttonParameters ?? {} }
  if (Object.keys(given.body).length + Object.keys(given.buttons).length === 0) return null
  const { parameters, surplus: all } = readParameters(template, given, false)
  const [surplus] = all
  if (surplus !== undefined) {
    throw new Problem(
      'invalid_field',
      `audience.recipients[${index}].${surplus} is not a parameter of the template "${template.name}"`,
    )
  }
  return { body: parameters.body, buttons: parameters.buttons }
}

/** The header's file, if the template has one. */
function toFile(template: Template, url: string | null): MediaInput | null {
  const kind = fileKindOf(template)
  return kind === null || url === null
    ? null
    : { id: newId(), kind, source: { url }, field: 'headerMedia', filename: null }
}

interface Checked {
  template: Template
  parameters: TemplateParameters
  audience: Audience
  listed: readonly ListedInput[]
  mediaId: string | null
  file: UploadedMedia | null
}

async function store(
  ctx: Context,
  tenant: Tenant,
  command: BroadcastCommand,
  { template, parameters, audience, listed, mediaId, file }: Checked,
): Promise<void> {
  const now = ctx.clock()
  const isLater = command.scheduledAt !== null && command.scheduledAt > now
  await ctx.database.transaction(async (transaction) => {
    await insertBroadcast(transaction, tenant.id, {
      id: command.id,
      name: command.name,
      template,
      parameters,
      header_media: command.headerMedia,
      media_id: mediaId,
      channel_media_id: file?.channelMediaId ?? null,
      audience,
      status: isLater ? 'scheduled' : 'running',
      scheduled_at: command.scheduledAt,
      created_at: now,
    })
    const sender = { broadcastId: command.id, campaignId: command.id, at: now }
    const common = Object.values(parameters.buttons).map((value) => ({ n: 0, value }))
    await recordSentLinks(transaction, tenant.id, sender, common)
    for (let after = 0; after < listed.length; after += LIST_BATCH) {
      // Converted in batches, since there may be a million recipients.
      const batch = listed.slice(after, after + LIST_BATCH).map((given, k) => toListed(template, given, after + k))
      await listRecipients(transaction, tenant.id, command.id, batch, after)
      const campaigns = await recordSentLinks(transaction, tenant.id, sender, ownValuesOf(batch, after + 1))
      await addUtmCampaignsOfBroadcast(transaction, tenant.id, command.id, campaigns)
    }
  })
}

/** The recipients' own button parameters; the first recipient has the number `from`. */
function ownValuesOf(listed: readonly ListedRecipient[], from: number): ButtonValue[] {
  return listed.flatMap(({ parameters }, index) => {
    const { buttons = {} } = (parameters ?? {}) as { buttons?: Record<string, string> }
    return Object.values(buttons).map((value) => ({ n: from + index, value }))
  })
}
