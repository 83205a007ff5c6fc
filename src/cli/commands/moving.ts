import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openBlobStore } from '../../blobs/open.js'
import type { Config } from '../../config/settings.js'
import type { CredentialsContext } from '../../context.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import {
  forwardOrganization,
  requireSuspended,
  resumeOrganization,
  suspendOrganization,
} from '../../core/organizations/suspension.js'
import type { Write } from '../backup/archive.js'
import { explained, openArchive, STANDARD, writeFile, writeTo } from '../backup/file.js'
import { requireKnownKey, requireSecrets } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Environment, Invocation } from '../invocation.js'
import { exportOrganization, type MovingContext } from '../moving/export.js'
import { importOrganization } from '../moving/import.js'
import { asOperator, withCredentials } from '../operator.js'
import { printDone, printFields, printNote } from '../output.js'
import { createProgress } from '../progress.js'
import { printSummary, verifyTold } from './verify.js'

interface Options {
  json?: boolean
  replace?: boolean
}

/** `parley org suspend`, `export`, `import`, `resume` and `forward`: an organization moves to another cell. */
export function addMovingCommands(org: Command, invocation: Invocation): void {
  org
    .command('suspend <org>')
    .description('stop an organization, to move it: its requests and callbacks are refused with 503, and no work runs')
    .action((name) => suspend(invocation, name))
  org
    .command('resume <org>')
    .description('end the suspension of an organization')
    .action((name) => resume(invocation, name))
  org
    .command('export <org> <file>')
    .description('write a suspended organization into an archive (a tar file); - is standard output')
    .option('--replace', 'replace the file if it exists, when the new archive is complete')
    .option('--json', 'print JSON')
    .action((name, file, options) => exportTo(invocation, name, file, options))
  org
    .command('import <file>')
    .description('read an organization from an archive that parley org export has written; it stays suspended')
    .option('--json', 'print JSON')
    .action((file, options) => importFrom(invocation, file, options))
  org
    .command('forward <org>')
    .description('redirect old links of a suspended organization to the cell where it is now, also after its deletion')
    .requiredOption('--to <url>', 'address of that cell, such as https://us1.chat.example.com (required)')
    .action((name, options) => forward(invocation, name, options))
}

async function suspend({ env, streams }: Invocation, name: string): Promise<void> {
  const { slug } = await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, name)
    await suspendOrganization(ctx, organization.id)
    return organization
  })
  printDone(streams, `The organization "${slug}" is suspended until you run parley org resume ${slug}`)
}

async function resume({ env, streams }: Invocation, name: string): Promise<void> {
  const { slug } = await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, name)
    await resumeOrganization(ctx, organization)
    return organization
  })
  printDone(streams, `The organization "${slug}" is not suspended any more`)
}

async function forward({ env, streams }: Invocation, name: string, { to }: { to: string }): Promise<void> {
  const url = await asOperator(env, async (ctx) =>
    forwardOrganization(ctx, await findOrganizationByName(ctx, name), to),
  )
  printDone(streams, `Old links of "${name}" are redirected to ${url}`)
}

async function exportTo({ env, streams }: Invocation, name: string, target: string, options: Options): Promise<void> {
  const { json = false, replace = false } = options
  const file = target === STANDARD ? 'standard output' : resolve(target)
  const progress = createProgress(streams, json)
  const exported = await moving(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, name)
    requireSuspended(organization)
    const writing = (write: Write) => exportOrganization(ctx, organization, write, progress)
    return explained(file, () => (target === STANDARD ? writing(writeTo(streams)) : writeFile(file, replace, writing)))
  }).finally(() => progress.end())
  const { organization, exportedAt, files } = exported
  const fields = { file, organization: organization.slug, exportedAt, files, rows: sumOf(exported.rows) }
  // Standard output has the archive.
  printFields(target === STANDARD ? { ...streams, stdout: streams.stderr } : streams, fields, { json })
  printNote(streams, "The archive holds the organization's messages and secrets: keep it as safe as the database")
}

async function importFrom({ env, streams }: Invocation, source: string, { json = false }: Options): Promise<void> {
  const input = await openArchive(source, streams, 'parley org export')
  const progress = createProgress(streams, json)
  const { imported, report } = await moving(env, async (ctx, { channelNames }) => {
    const imported = await explained('the organization', () => importOrganization(ctx, input, progress))
    const verifying = { ...ctx, channelNames }
    return { imported, report: await verifyTold(verifying, imported.organization, progress, json ? null : streams) }
  }).finally(() => progress.end())
  const { organization, exportedAt, files } = imported
  const { violationCount } = report
  const fields = { organization: organization.slug, exportedAt, files, rows: sumOf(imported.rows) }
  printFields(streams, json ? { ...fields, violationCount } : fields, { json })
  if (!json) printSummary(streams, report)
  if (violationCount > 0)
    throw new CliFailure(
      1,
      `${violationCount} violations were found, and the organization stays suspended: parley verify --organization ${organization.slug} lists them`,
    )
  printNote(
    streams,
    `It is suspended here, too. When its requests reach this cell, run parley org resume ${organization.slug}`,
  )
}

function sumOf(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0)
}

/** For work with rows, files and secrets of an organization. */
function moving<Result>(
  env: Environment,
  work: (ctx: CredentialsContext & MovingContext, config: Config) => Promise<Result>,
): Promise<Result> {
  return withCredentials(env, async (ctx, config) => {
    // What is imported under another key than the cell's, nobody could read.
    await requireKnownKey(config, ctx.database, await requireSecrets(config))
    const blobs = await openBlobStore(config.media, config.dataDir)
    try {
      return await work({ ...ctx, blobs }, config)
    } finally {
      await blobs.close()
    }
  })
}
