import type { Context } from '../../context.js'
import { createSteps } from '../../lib/async/steps.js'
import { newId } from '../../lib/bytes/id.js'
import type { Audience, Broadcast } from '../../model/broadcasts/broadcast.js'
import { fieldOf, type GivenFile, TEMPLATE_FIELDS } from '../../model/messages/content.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { checkParameters, type TemplateParameters } from '../../model/templates/parameters.js'
import { fileKindOf, type Template } from '../../model/templates/template.js'
import { findBroadcast, insertBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { recordSentLinks } from '../../storage/storefront/sent-links.js'
import { removeUnattachedFile } from '../media/remove.js'
import { type MediaInput, type UploadedMedia, uploadMedia } from '../media/upload.js'
import { organizationChannel } from '../messages/send/channel.js'
import { openNumber, requireNumberOf } from '../messages/send/choose-number.js'
import { chooseTemplate } from '../templates/templates.js'
import { type ListedInput, listBatch, type RecipientInput, readOwnParameters } from './list-recipients.js'
import { prepareBroadcast } from './prepare.js'
import { keepUploaded, readUploaded } from './uploaded-audiences.js'

/** The recipients of a broadcast: listed ones, those of an uploaded audience, and those selected by tags. */
export type AudienceInput = Pick<Audience, 'tags' | 'all' | 'numbers'> & {
  contactIds?: string[]
  recipients?: RecipientInput[]
  audienceId?: string | null
}

export interface BroadcastCommand {
  id: string
  name: string
  templateName: string
  language: string | undefined
  parameters: TemplateParameters
  headerMedia: GivenFile | null
  audience: AudienceInput
  /** The number that sends it, as it was given; null: the number that each recipient last wrote to, else the first. */
  from: string | null
  scheduledAt: Date | null
}

const LIST_BATCH = 5_000
/** Maximum time that the request prepares recipients; a job prepares the rest. */
const PREPARING_MS = 1_500

/**
 * Creates a broadcast. Its audience is the contacts that exist now; small audiences are counted when this resolves.
 * Throws invalid_provider, invalid_field for a number that is not the organization's, template_not_found, missing_field and invalid_field for parameters, and the errors of
 * uploadMedia.
 */
export async function createBroadcast(ctx: Context, tenant: Tenant, command: BroadcastCommand): Promise<Broadcast> {
  const first = organizationChannel(ctx, tenant)
  const { from } = command
  const number = from === null ? null : await requireNumberOf(ctx, tenant, { from, isTemplate: true })
  const { driver } = number === null ? first : await openNumber(ctx, tenant, number)
  const { contactIds = [], recipients = [], audienceId, ...open } = command.audience
  const template = await chooseTemplate(ctx, tenant, command.templateName, command.language)
  const isListOnly = contactIds.length === 0 && !open.tags && !open.all
  const check = { hasHeaderMedia: command.headerMedia !== null, mayLack: isListOnly }
  const parameters = checkParameters(template, command.parameters, check)
  await checkOwnParameters(template, recipients)
  const listed = listInOrder(command.audience)
  const uploaded = audienceId ? await readUploaded(ctx, tenant, audienceId, template) : null
  const audience = uploaded ? { ...open, uploaded: { ...uploaded, after: listed.length } } : open

  const header = toFile(template, command.headerMedia)
  const mediaId = header?.id ?? null
  const file = header && (await uploadMedia(ctx, tenant, driver, header))
  try {
    await store(ctx, tenant, command, {
      ...{ template, parameters, audience, listed, mediaId, file },
      fromNumber: number?.phone_number_id ?? null,
    })
  } catch (error) {
    if (mediaId !== null) await removeUnattachedFile(ctx, tenant.id, mediaId)
    throw error
  }
  await tryToPrepare(ctx, tenant, command.id)
  return (await findBroadcast(ctx.database, tenant.id, command.id)) as Broadcast
}

/** Only to return counts in the answer: if this fails, the broadcast's job prepares the recipients. */
async function tryToPrepare(ctx: Context, tenant: Tenant, broadcastId: string): Promise<void> {
  try {
    await prepareBroadcast(ctx, tenant.id, broadcastId, { forMs: PREPARING_MS })
  } catch (error) {
    ctx.log.warn(
      { err: error, organizationId: tenant.id, broadcastId },
      'a broadcast could not be prepared in its request',
    )
  }
}

/** The listed recipients, in the order in which they are prepared. */
export function listInOrder({ contactIds = [], recipients = [] }: AudienceInput): ListedInput[] {
  return [...recipients, ...contactIds]
}

/** Yields to other requests, since a million recipients take seconds. */
async function checkOwnParameters(template: Template, recipients: readonly RecipientInput[]): Promise<void> {
  const step = createSteps()
  for (const [index, recipient] of recipients.entries()) {
    readOwnParameters(template, recipient, index)
    await step()
  }
}

/** The header's file, if the template has one. */
function toFile(template: Template, source: GivenFile | null): MediaInput | null {
  const kind = fileKindOf(template)
  return kind === null || source === null
    ? null
    : { id: newId(), kind, source, field: fieldOf(source, TEMPLATE_FIELDS), filename: null }
}

interface Checked {
  template: Template
  parameters: TemplateParameters
  audience: Audience
  listed: readonly ListedInput[]
  mediaId: string | null
  file: UploadedMedia | null
  /** The id of the number that sends it. */
  fromNumber: string | null
}

async function store(
  ctx: Context,
  tenant: Tenant,
  command: BroadcastCommand,
  { template, parameters, audience, listed, mediaId, file, fromNumber }: Checked,
): Promise<void> {
  const now = ctx.clock()
  const broadcast = { organization_id: tenant.id, id: command.id, template, created_at: now }
  const isLater = command.scheduledAt !== null && command.scheduledAt > now
  await ctx.database.transaction(async (transaction) => {
    if (audience.uploaded) await keepUploaded(transaction, tenant, audience.uploaded.id)
    await insertBroadcast(transaction, tenant.id, {
      id: command.id,
      name: command.name,
      template,
      parameters,
      header_media: command.headerMedia !== null && 'url' in command.headerMedia ? command.headerMedia.url : null,
      media_id: mediaId,
      channel_media_id: file?.channelMediaId ?? null,
      audience,
      status: isLater ? 'scheduled' : 'running',
      scheduled_at: command.scheduledAt,
      from_number: fromNumber,
      created_at: now,
    })
    const sender = { broadcastId: command.id, campaignId: command.id, at: now }
    const common = Object.values(parameters.buttons).map((value) => ({ n: 0, value }))
    await recordSentLinks(transaction, tenant.id, sender, common)
    // In batches, since there may be a million recipients.
    for (let after = 0; after < listed.length; after += LIST_BATCH) {
      await listBatch(transaction, broadcast, listed.slice(after, after + LIST_BATCH), after)
    }
  })
}
