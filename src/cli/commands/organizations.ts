import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { deleteOrganization } from '../../core/maintenance/organization-deletion.js'
import { connectStorefront, connectUpstream } from '../../core/organizations/connections.js'
import { removeFurtherNumber } from '../../core/organizations/further-numbers.js'
import { holdOrganization, listPastHolds, releaseOrganization } from '../../core/organizations/legal-hold.js'
import { listNumbers } from '../../core/organizations/numbers.js'
import {
  changeOrganization,
  createOrganization,
  findOrganizationByName,
  listOrganizations,
} from '../../core/organizations/organizations.js'
import {
  ChangeOrganization,
  CreateOrganization,
  PutStorefront,
  PutUpstream,
  ReleaseHold,
  readOrganizationFields,
  readUpstreamCredentials,
  SetHold,
} from '../../model/organizations/operator-input.js'
import { type Organization, presentOrganization } from '../../model/organizations/organization.js'
import { presentOwnNumber } from '../../model/organizations/own-number.js'
import { presentUpstream } from '../../model/organizations/settings.js'
import { CliFailure } from '../failure.js'
import { readDocument, readOptions, toDays, toNumber } from '../input.js'
import type { Invocation, Streams } from '../invocation.js'
import { asOperator, withCredentials } from '../operator.js'
import { printDone, printFields, printList, printNote } from '../output.js'
import { connectOrganization } from './connect.js'
import { addMovingCommands } from './moving.js'

interface JsonOption {
  json?: boolean
}

interface OrganizationOptions extends JsonOption {
  name?: string
  slug?: string
  provider?: string
  country?: string
  timezone?: string
  currency?: string
  language?: string
  attributionWindow?: string
  retention?: string
  messageRetention?: string
  mediaRetention?: string
}

const PROVIDER = 'what the organization sends through: upstream, gateway or none'
const COUNTRY = 'country of phone numbers without a country code'
const WINDOW = 'days after a click or a message in which an order is attributed to it'
const RETENTION = 'days that raw callbacks, events and webhook deliveries are kept, 1 to 365'

const MESSAGE_RETENTION = 'days after which messages are deleted, --retention to 3650, or off'
const MEDIA_RETENTION = 'days after which files of messages are removed, 1 to 3650, or off'
const BY = "who does it (default: the name of the system's user)"

/** `parley org …`: organizations, with the verbs of the admin API. */
export function addOrganizationCommands(program: Command, invocation: Invocation): void {
  const org = program.command('org').description('manage organizations')
  org
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'full name (required)')
    .requiredOption('--slug <slug>', 'short name, used in URLs (required)')
    .option('--provider <provider>', PROVIDER)
    .option('--country <code>', `${COUNTRY} (default: BR)`)
    .option('--timezone <name>', 'time zone of the days in analytics (default: America/Sao_Paulo)')
    .option('--currency <code>', 'currency of revenue (default: BRL)')
    .option('--language <code>', 'preferred language of templates (default: pt_BR)')
    .option('--attribution-window <days>', `${WINDOW} (default: 7)`)
    .option('--retention <days>', `${RETENTION} (default: 30)`)
    .option('--message-retention <days>', `${MESSAGE_RETENTION} (default: off)`)
    .option('--media-retention <days>', `${MEDIA_RETENTION} (default: off)`)
    .option('--json', 'print the organization as JSON')
    .action((options) => create(invocation, options))
  org
    .command('list')
    .description('list all organizations')
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  org
    .command('show <org>')
    .description('show one organization, named by its id or slug')
    .option('--json', 'print JSON')
    .action((name, options) => show(invocation, name, options))
  org
    .command('update <org>')
    .description('change an organization; options that are left out stay as they are')
    .option('--name <name>', 'full name')
    .option('--slug <slug>', 'short name, used in URLs')
    .option('--provider <provider>', PROVIDER)
    .option('--country <code>', COUNTRY)
    .option('--timezone <name>', 'time zone of the days in analytics')
    .option('--currency <code>', 'currency of revenue')
    .option('--language <code>', 'preferred language of templates')
    .option('--attribution-window <days>', WINDOW)
    .option('--retention <days>', RETENTION)
    .option('--message-retention <days>', MESSAGE_RETENTION)
    .option('--media-retention <days>', MEDIA_RETENTION)
    .option('--json', 'print the organization as JSON')
    .action((name, options) => update(invocation, name, options))
  org
    .command('delete <org>')
    .description('delete an organization with all its data')
    .option('--yes', 'confirm the deletion')
    .action((name, options) => remove(invocation, name, options))
  org
    .command('hold <org>')
    .description('set a legal hold: until it is released, nothing of the organization is deleted')
    .requiredOption('--reason <text>', 'why, for the members and for later operators (required)')
    .option('--by <name>', BY)
    .option('--json', 'print the organization as JSON')
    .action((name, options) => hold(invocation, name, options))
  org
    .command('release <org>')
    .description('release the legal hold of an organization')
    .option('--by <name>', BY)
    .option('--json', 'print the organization as JSON')
    .action((name, options) => release(invocation, name, options))
  org
    .command('holds <org>')
    .description('list the legal holds of an organization that were released')
    .option('--json', 'print JSON')
    .action((name, options) => holds(invocation, name, options))
  org
    .command('connect <org>')
    .description(
      'connect a number with an access token: finds the number, has WhatsApp call this service, registers it; asks on a terminal, otherwise reads a JSON object from standard input: {"access_token", "app_secret"}, and what it asks for',
    )
    .option('--send-to <number>', 'your phone number: the connected number sends a message to it')
    .option('--number <phone-number-id>', 'this number, in place of the first one if another is connected')
    .option('--further', 'connect a number beside those that are connected')
    .option('--json', 'print the steps as JSON')
    .action((name, options) => connectOrganization(invocation, name, options))
  org
    .command('numbers <org>')
    .description('list the business numbers of an organization, the first one first')
    .option('--json', 'print JSON')
    .action((name, options) => numbers(invocation, name, options))
  org
    .command('disconnect <org> <phone-number-id>')
    .description('disconnect a business number that is not the first; its conversations stay')
    .action((name, phoneNumberId) => disconnect(invocation, name, phoneNumberId))
  org
    .command('upstream <org>')
    .description(
      'connect a number at the upstream; reads a JSON object from standard input: {"phone_number_id", "business_account_id", "access_token", "app_secret", "verify_token"}, optionally "messages_per_second" (80) and "pair_limit" (true)',
    )
    .option('--json', 'print the settings as JSON')
    .action((name, options) => upstream(invocation, name, options))
  org
    .command('storefront <org>')
    .description(
      'connect a storefront; reads a JSON object from standard input: {"url", "access_token", "webhook_secret"}',
    )
    .option('--json', 'print the settings as JSON')
    .action((name, options) => storefront(invocation, name, options))
  addMovingCommands(org, invocation)
}

async function create({ env, streams }: Invocation, options: OrganizationOptions): Promise<void> {
  const fields = readOptions(CreateOrganization, toFields(options), readOrganizationFields)
  const organization = await asOperator(env, (ctx) => createOrganization(ctx, fields))
  printOrganization(streams, organization, options)
}

async function list({ env, streams }: Invocation, options: JsonOption): Promise<void> {
  const organizations = await asOperator(env, listOrganizations)
  printList(
    streams,
    organizations.map(presentOrganization),
    options,
    ({ id, slug, name, provider, default_country, created_at, suspended_at }) => ({
      id,
      slug,
      name,
      provider,
      country: default_country,
      created_at,
      suspended: suspended_at,
    }),
  )
}

async function show({ env, streams }: Invocation, name: string, options: JsonOption): Promise<void> {
  const organization = await asOperator(env, (ctx) => findOrganizationByName(ctx, name))
  printOrganization(streams, organization, options)
}

async function update({ env, streams }: Invocation, name: string, options: OrganizationOptions): Promise<void> {
  const changes = readOptions(ChangeOrganization, toFields(options), readOrganizationFields)
  if (Object.keys(changes).length === 0) {
    throw new CliFailure(2, 'There is nothing to change: give at least one option, such as --name')
  }
  const changed = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    return changeOrganization(ctx, id, changes)
  })
  printOrganization(streams, changed, options)
}

async function numbers({ env, streams }: Invocation, name: string, options: JsonOption): Promise<void> {
  const listed = await asOperator(env, async (ctx) => listNumbers(ctx, await findOrganizationByName(ctx, name)))
  printList(
    streams,
    listed.map(presentOwnNumber),
    options,
    ({ phone_number_id, phone_number, name, state, quality, messages_per_second }) => ({
      phone_number_id,
      phone_number,
      name,
      state,
      quality,
      messages_per_second,
    }),
  )
}

async function disconnect({ env, streams }: Invocation, name: string, phoneNumberId: string): Promise<void> {
  await withCredentials(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    await removeFurtherNumber(ctx, id, phoneNumberId)
  })
  printDone(streams, `The number ${phoneNumberId} is disconnected; its conversations stay`)
}

async function remove({ env, streams }: Invocation, name: string, { yes }: { yes?: boolean }): Promise<void> {
  if (!yes) {
    throw new CliFailure(2, `This deletes the organization "${name}" with all its data for good: add --yes to do it`)
  }
  const { slug } = await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, name)
    await deleteOrganization(ctx, organization.id)
    return organization
  })
  printDone(streams, `The organization "${slug}" has been deleted; the service removes its data`)
}

interface HoldOptions extends JsonOption {
  reason?: string
  by?: string
}

async function hold({ env, streams }: Invocation, name: string, options: HoldOptions): Promise<void> {
  const { reason, by = userName() } = options
  const given = readOptions(SetHold, { reason, by }, (input) => ({ ...input, by }))
  const held = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    return holdOrganization(ctx, id, given)
  })
  printOrganization(streams, held, options)
}

async function release({ env, streams }: Invocation, name: string, options: HoldOptions): Promise<void> {
  const { by = userName() } = options
  readOptions(ReleaseHold, { by }, (input) => input)
  const released = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    return releaseOrganization(ctx, id, by)
  })
  printOrganization(streams, released, options)
}

async function holds({ env, streams }: Invocation, name: string, options: JsonOption): Promise<void> {
  const past = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    return listPastHolds(ctx, id)
  })
  printList(streams, past, options)
}

function userName(): string {
  return userInfo().username
}

function printOrganization(streams: Streams, organization: Organization, options: JsonOption): void {
  const shown = presentOrganization(organization)
  const { legal_hold: held } = shown
  const line = held && `since ${held.since}, by ${held.by}: ${held.reason}`
  printFields(streams, options.json ? shown : { ...shown, legal_hold: line }, options)
}

async function upstream({ env, streams }: Invocation, name: string, options: JsonOption): Promise<void> {
  const credentials = await readDocument(streams, PutUpstream, readUpstreamCredentials)
  const usesSandbox = await withCredentials(env, async (ctx, { upstreamUrl }) => {
    const { id } = await findOrganizationByName(ctx, name)
    await connectUpstream(ctx, id, credentials)
    return upstreamUrl === 'sandbox'
  })
  printFields(streams, presentUpstream(credentials), options)
  if (usesSandbox) {
    printNote(streams, 'A running service registers this number with its sandbox within a few seconds')
  }
}

async function storefront({ env, streams }: Invocation, name: string, options: JsonOption): Promise<void> {
  const settings = await readDocument(streams, PutStorefront, (input) => input)
  await withCredentials(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, name)
    await connectStorefront(ctx, id, settings)
  })
  printFields(streams, { url: settings.url }, options)
}

/** The options under the names of the admin API's fields. */
function toFields({ name, slug, provider, country, timezone, currency, language, ...rest }: OrganizationOptions) {
  const named = provider === 'none' ? null : provider
  const place = { default_country: country, timezone, currency, language }
  const days = {
    attribution_window_days: toNumber(rest.attributionWindow),
    retention_days: toNumber(rest.retention),
    message_retention_days: toDays(rest.messageRetention),
    media_retention_days: toDays(rest.mediaRetention),
  }
  return { name, slug, provider: named, ...place, ...days }
}
