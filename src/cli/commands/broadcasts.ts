import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ControlContext,
  cancelBroadcast,
  pauseBroadcast,
  resumeBroadcast,
  retryFailed,
} from '../../core/broadcasts/control.js'
import { listBroadcasts, listBroadcastsOfAll, showBroadcast } from '../../core/broadcasts/read.js'
import { exportRecipients } from '../../core/broadcasts/recipients-file.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { isUuid, newId } from '../../lib/bytes/id.js'
import {
  BROADCAST_STATUSES,
  type Broadcast,
  type BroadcastStatus,
  presentBroadcast,
  RECIPIENT_STATUSES,
  type RecipientStatus,
} from '../../model/broadcasts/broadcast.js'
import type { Organization } from '../../model/organizations/organization.js'
import { writeDocument } from '../export-file.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { asOperator, ORGANIZATION } from '../operator.js'
import { printDone, printFields, printList } from '../output.js'

interface Options {
  org: string
  json?: boolean
}

interface ListOptions extends Partial<Options> {
  status?: BroadcastStatus
  singles?: boolean
  page: number
}

const BROADCAST = 'id of the broadcast'
const PER_PAGE = 100

/** `parley broadcasts …`: the broadcasts of an organization. */
export function addBroadcastCommands(program: Command, invocation: Invocation): void {
  const broadcasts = program.command('broadcasts').description('list and control broadcasts')
  broadcasts
    .command('list')
    .description('list broadcasts, newest first')
    .option('--org <org>', 'id or slug of the organization (default: all of them)')
    .addOption(new Option('--status <status>', 'only broadcasts with this status').choices([...BROADCAST_STATUSES]))
    .option('--singles', 'list one-off sends (send-template) of --org instead')
    .option('--page <page>', `page number; ${PER_PAGE} broadcasts per page`, readPage, 1)
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  broadcasts
    .command('show')
    .argument('<id>', BROADCAST, readId)
    .description('show a broadcast or a one-off send')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((id, options) => show(invocation, id, options))
  broadcasts
    .command('recipients')
    .argument('<id>', BROADCAST, readId)
    .description('export the recipients of a broadcast with their results as CSV')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(new Option('--status <status>', 'only recipients with this status').choices([...RECIPIENT_STATUSES]))
    .option('--output <file>', 'file to write (default: standard output)')
    .action((id, options) => writeRecipients(invocation, id, options))
  addControl(broadcasts.command('pause').description('pause a broadcast'), invocation, pauseBroadcast)
  addControl(broadcasts.command('resume').description('continue a paused broadcast'), invocation, resumeBroadcast)
  addControl(broadcasts.command('cancel').description('cancel a broadcast for good'), invocation, cancelBroadcast)
  broadcasts
    .command('retry-failed')
    .argument('<id>', BROADCAST, readId)
    .description('send again to failed recipients')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((id, options) => retry(invocation, id, options))
}

type Control = (ctx: ControlContext, organization: Organization, id: string) => Promise<Broadcast>

function addControl(command: Command, invocation: Invocation, control: Control): void {
  command
    .argument('<id>', BROADCAST, readId)
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action(async (id: string, options: Options) => {
      const broadcast = await withOrganization(invocation, options, (ctx, organization) =>
        control(ctx, organization, id),
      )
      printFields(invocation.streams, presentBroadcast(broadcast), options)
    })
}

function readId(given: string): string {
  if (isUuid(given)) return given
  throw new InvalidArgumentError('It must be a UUID.')
}

function readPage(given: string): number {
  if (/^[1-9]\d{0,6}$/.test(given)) return Number(given)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

async function list(invocation: Invocation, options: ListOptions): Promise<void> {
  printList(invocation.streams, await listShown(invocation, options), options, (broadcast) => {
    const { id, name, templateName, status, reason, totalRecipients, skippedRecipients, started_at } = broadcast
    return {
      ...('organization' in broadcast && { organization: broadcast.organization }),
      id,
      name,
      template: templateName,
      status,
      reason,
      recipients: totalRecipients,
      skipped: skippedRecipients,
      started_at,
    }
  })
}

/** The broadcasts of the organization; without one, those of all, with the organization of each. */
async function listShown(invocation: Invocation, { org, singles, page, ...options }: ListOptions) {
  const status = options.status ?? null
  if (org === undefined) {
    if (singles) throw new CliFailure(2, '--singles needs --org: it lists the one-off sends of one organization')
    const found = await asOperator(invocation.env, (ctx) => listBroadcastsOfAll(ctx, { status, page, limit: PER_PAGE }))
    return found.map((one) => ({ organization: one.organization, ...presentBroadcast(one) }))
  }
  const kind = singles ? 'single' : 'broadcast'
  const { broadcasts } = await withOrganization(invocation, { org }, (ctx, organization) =>
    listBroadcasts(ctx, organization, { kind, status, page, limit: PER_PAGE }),
  )
  return broadcasts.map(presentBroadcast)
}

async function show(invocation: Invocation, id: string, options: Options): Promise<void> {
  const broadcast = await withOrganization(invocation, options, (ctx, organization) =>
    showBroadcast(ctx, organization, id),
  )
  printFields(invocation.streams, presentBroadcast(broadcast), options)
}

async function writeRecipients(
  invocation: Invocation,
  id: string,
  options: Options & { status?: RecipientStatus; output?: string },
): Promise<void> {
  await withOrganization(invocation, options, async (ctx, organization) => {
    const parts = await exportRecipients(ctx, organization, id, options.status ?? null)
    await writeDocument(invocation.streams, parts, options.output)
  })
}

async function retry(invocation: Invocation, id: string, options: Options): Promise<void> {
  const { retried } = await withOrganization(invocation, options, (ctx, organization) =>
    retryFailed(ctx, organization, id, newId()),
  )
  printDone(invocation.streams, `Sending again to ${retried} failed recipients`, options)
}

function withOrganization<Result>(
  { env }: Invocation,
  { org }: Options,
  work: (ctx: ControlContext, organization: Organization) => Promise<Result>,
): Promise<Result> {
  return asOperator(env, async (operator) => {
    const organization = await findOrganizationByName(operator, org)
    return work(operator, organization)
  })
}
