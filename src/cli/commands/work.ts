import { type Command, InvalidArgumentError } from 'commander'
import type { OperatorContext } from '../../context.js'
import { listFailedWork, retryFailedWork } from '../../core/maintenance/failed-work.js'
import { findLongestQueues } from '../../core/maintenance/queues.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { isUuid } from '../../lib/bytes/id.js'
import type { Organization } from '../../model/organizations/organization.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { asOperator } from '../operator.js'
import { printDone, printList } from '../output.js'

interface Options {
  org?: string
  json?: boolean
}

const ORGANIZATION = 'id or slug of an organization (default: all)'
const MAX_LISTED = 1_000
const MAX_QUEUES = 10

/** `parley work …`: what waits to be processed, and what failed on every attempt. */
export function addWorkCommands(program: Command, invocation: Invocation): void {
  const work = program.command('work').description('list what waits to be processed, and list and retry what failed')
  work
    .command('queues')
    .description(
      `list the ${MAX_QUEUES} organizations for which most waits: callbacks, due jobs, due webhook deliveries`,
    )
    .option('--json', 'print JSON')
    .action((options) => queues(invocation, options))
  work
    .command('list')
    .description(`list failed callbacks and jobs with their reasons, at most ${MAX_LISTED} of each`)
    .option('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  work
    .command('retry')
    .argument('[ids...]', 'ids that parley work list shows', collectIds)
    .description('retry failed callbacks and jobs')
    .option('--all', 'retry everything that failed')
    .option('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((ids, options) => retry(invocation, ids ?? [], options))
}

function collectIds(given: string, before: string[] = []): string[] {
  if (/^[1-9]\d{0,14}$/.test(given) || isUuid(given)) return [...before, given.toLowerCase()]
  throw new InvalidArgumentError('It must be an id that parley work list shows.')
}

async function queues({ env, streams }: Invocation, options: Options): Promise<void> {
  const found = await asOperator(env, (ctx) => findLongestQueues(ctx, MAX_QUEUES))
  printList(streams, found, options, ({ queue, organization, waiting, oldest_seconds: seconds }) => {
    return { queue, organization, waiting, oldest_seconds: Math.round(seconds) }
  })
}

async function list({ env, streams }: Invocation, options: Options): Promise<void> {
  const failed = await asOperator(env, async (ctx) =>
    listFailedWork(ctx, await findOrganization(ctx, options), MAX_LISTED),
  )
  printList(streams, failed, options, ({ id, organization, task, attempts, failed_at, error }) => {
    return { id, organization, task, attempts, failed_at, error }
  })
}

async function retry(
  { env, streams }: Invocation,
  ids: readonly string[],
  options: Options & { all?: boolean },
): Promise<void> {
  if (ids.length > 0 === (options.all === true)) {
    throw new CliFailure(2, 'Give ids that parley work list shows, or --all')
  }
  const count = await asOperator(env, async (ctx) =>
    retryFailedWork(ctx, await findOrganization(ctx, options), options.all ? null : ids),
  )
  printDone(streams, `${count} will be retried`, options)
}

async function findOrganization(ctx: OperatorContext, { org }: Options): Promise<Organization | null> {
  return org === undefined ? null : findOrganizationByName(ctx, org)
}
