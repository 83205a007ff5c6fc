import { type Command, InvalidArgumentError } from 'commander'
import type { OperatorContext } from '../../context.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { listFailedWork, retryFailedWork } from '../../core/runtime/failed-work.js'
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

/** `parley work …`: work that failed on every attempt. */
export function addWorkCommands(program: Command, invocation: Invocation): void {
  const work = program.command('work').description('list and retry work that failed on every attempt')
  work
    .command('list')
    .description(`list failed jobs with their reasons, at most ${MAX_LISTED}`)
    .option('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  work
    .command('retry')
    .argument('[ids...]', 'ids of failed jobs', collectIds)
    .description('run failed jobs again')
    .option('--all', 'all failed jobs')
    .option('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((ids, options) => retry(invocation, ids ?? [], options))
}

function collectIds(given: string, before: number[] = []): number[] {
  if (/^[1-9]\d{0,14}$/.test(given)) return [...before, Number(given)]
  throw new InvalidArgumentError('It must be the number of a job, as parley work list shows it.')
}

async function list({ env, streams }: Invocation, options: Options): Promise<void> {
  const jobs = await asOperator(env, async (ctx) =>
    listFailedWork(ctx, await findOrganization(ctx, options), MAX_LISTED),
  )
  printList(streams, jobs, options, ({ id, organization, task, attempts, failed_at, error }) => {
    return { id, organization, task, attempts, failed_at, error }
  })
}

async function retry(
  { env, streams }: Invocation,
  ids: readonly number[],
  options: Options & { all?: boolean },
): Promise<void> {
  if (ids.length > 0 === (options.all === true)) {
    throw new CliFailure(2, 'Name the ids of failed jobs, or --all')
  }
  const count = await asOperator(env, async (ctx) =>
    retryFailedWork(ctx, await findOrganization(ctx, options), options.all ? null : ids),
  )
  printDone(streams, `${count} failed jobs run again`, options)
}

async function findOrganization(ctx: OperatorContext, { org }: Options): Promise<Organization | null> {
  return org === undefined ? null : findOrganizationByName(ctx, org)
}
