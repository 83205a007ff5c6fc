import type { Context } from '../../context.js'
import { newId } from '../../lib/id.js'
import type { Audience, Broadcast } from '../../model/broadcast.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { describeTemplate, type Template } from '../../model/template.js'
import {
  checkParameters,
  readParameters,
  type TemplateParameters,
  takesHeaderMedia,
} from '../../model/template-parameters.js'
import { addUtmCampaignsOfBroadcast, type ListedRecipient, listRecipients } from '../../storage/broadcast-audiences.js'
import { findBroadcast, insertBroadcast } from '../../storage/broadcasts.js'
import { resolveUtmCampaigns } from '../../storage/short-links.js'
import { type HandedOver, handOverFile } from '../media/hand-over.js'
import { removeUnattachedFile } from '../media/remove.js'
import { openChannel } from '../messages/send.js'
import { chooseTemplate } from '../templates.js'
import { prepareBroadcast } from './prepare.js'

/** A recipient that a client lists; its own parameters go before those of all. */
export interface GivenRecipient {
  chatNumber: string
  name?: string | null
  bodyParameters?: Record<string, string>
  buttonParameters?: Record<string, string>
}

/** What a broadcast is made from (contract 4, Broadcasts). */
export interface BroadcastCommand {
  id: string
  name: string
  templateName: string
  language: string | undefined
  parameters: TemplateParameters
  headerMedia: string | null
  audience: Audience & { contactIds?: string[]; recipients?: GivenRecipient[] }
  scheduledAt: Date | null
}

const LIST_BATCH = 5_000
/** So long the answer waits for the recipients to be counted; the rest of them is a job's. */
const PREPARING_MS = 1_500

/**
 * Makes a broadcast. Its audience is who is there now; small ones are counted when this resolves. Throws invalid_provider,
 * template_not_found, missing_field and invalid_field for parameters, and what the handing over of a file throws.
 */
export async function createBroadcast(ctx: Context, tenant: Tenant, command: BroadcastCommand): Promise<Broadcast> {
  const channel = openChannel(ctx, tenant)
  const { contactIds = [], recipients = [], ...audience } = command.audience
  const template = await chooseTemplate(ctx, tenant, command.templateName, command.language)
  const isListOnly = contactIds.length === 0 && !audience.tags && !audience.all
  const check = { hasHeaderMedia: command.headerMedia !== null, mayLack: isListOnly }
  const parameters = checkParameters(template, command.parameters, check)
  if (check.hasHeaderMedia !== takesHeaderMedia(describeTemplate(template))) {
    throw new Problem(
      'missing_field',
      `headerMedia is required: the template "${template.name}" has a file as its header`,
    )
  }
  const listed = [
    ...recipients.map((recipient, index) => toListed(template, recipient, index)),
    ...contactIds.map(toKnown),
  ]

  const mediaId = command.headerMedia === null ? null : newId()
  const file =
    mediaId === null || command.headerMedia === null
      ? null
      : await handOverFile(ctx, tenant, channel, toFile(template, mediaId, command.headerMedia))
  try {
    await store(ctx, tenant, command, { template, parameters, audience, listed, mediaId, file })
  } catch (error) {
    if (mediaId !== null) await removeUnattachedFile(ctx, tenant.id, mediaId)
    throw error
  }
  const until = Date.now() + PREPARING_MS
  await prepareBroadcast(ctx, tenant.id, command.id, () => Date.now() < until)
  ctx.wakeWorkers()
  return (await findBroadcast(ctx.database, tenant.id, command.id)) as Broadcast
}

/** Its own parameters under the template's names; what it lacks after all is found when it is sent to. */
function toListed(template: Template, recipient: GivenRecipient, index: number): ListedRecipient {
  const { chatNumber, name, bodyParameters, buttonParameters } = recipient
  const given = { body: bodyParameters ?? {}, header: {}, buttons: buttonParameters ?? {} }
  const hasOwn = Object.keys(given.body).length + Object.keys(given.buttons).length > 0
  const own = hasOwn ? readParameters(template, given, false) : null
  const [surplus] = own?.surplus ?? []
  if (surplus !== undefined) {
    throw new Problem(
      'invalid_field',
      `audience.recipients[${index}].${surplus} is not a parameter of the template "${template.name}"`,
    )
  }
  const parameters = own === null ? null : { body: own.parameters.body, buttons: own.parameters.buttons }
  return { contactId: null, number: chatNumber, name: name ?? null, parameters, messageId: newId() }
}

function toKnown(contactId: string): ListedRecipient {
  return { contactId, number: null, name: null, parameters: null, messageId: newId() }
}

function toFile(template: Template, id: string, url: string) {
  const { header } = describeTemplate(template)
  const kind = header?.kind === 'video' || header?.kind === 'document' ? header.kind : ('image' as const)
  return { id, kind, url, field: 'headerMedia', filename: null }
}

interface Checked {
  template: Template
  parameters: TemplateParameters
  audience: Audience
  listed: ListedRecipient[]
  mediaId: string | null
  file: HandedOver | null
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
    for (let after = 0; after < listed.length; after += LIST_BATCH) {
      const batch = listed.slice(after, after + LIST_BATCH)
      await listRecipients(transaction, tenant.id, command.id, batch, after)
      const campaigns = await resolveUtmCampaigns(transaction, tenant.id, codesOf(batch))
      await addUtmCampaignsOfBroadcast(transaction, tenant.id, command.id, campaigns)
    }
  })
}

/** What may be short codes among the recipients' own parameters. */
function codesOf(listed: readonly ListedRecipient[]): string[] {
  const values = listed.flatMap(({ parameters }) =>
    Object.values((parameters as { buttons?: Record<string, string> } | null)?.buttons ?? {}),
  )
  return [...new Set(values)]
}
