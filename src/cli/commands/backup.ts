import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { createFileStore } from '../../blobs/files.js'
import type { Config } from '../../config/settings.js'
import { type Interrupted, listInterrupted } from '../../core/broadcasts/read.js'
import { isServed } from '../../database/embedded.js'
import { createLogger } from '../../log.js'
import { checkBackup, chooseBackup, restoreBackup, writeFiles } from '../backup/restore.js'
import { takeBackup } from '../backup/take.js'
import { openConfiguredDatabase, prepareSchema, requireConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Invocation, Streams } from '../invocation.js'
import { printDone, printFields, printList, printNote } from '../output.js'
import { createProgress, type Progress } from '../progress.js'
import { printSummary, verifyTold } from './verify.js'

interface Options {
  to?: string
  keep?: number
  json?: boolean
  replace?: boolean
}

const MAX_KEPT = 10_000

/** `parley backup`, `parley backup verify` and `parley restore`: backups of the embedded database and its files. */
export function addBackupCommands(program: Command, invocation: Invocation): void {
  const backup = program
    .command('backup')
    .description('back up the embedded database, the files of messages and the secrets, beside a running service too')
    .option('--to <folder>', 'folder of the backups (default: backups in PARLEY_DATA_DIR)')
    .option('--keep <n>', 'remove all but the newest n backups afterwards', readCount)
    .option('--json', 'print JSON')
    .action((options) => take(invocation, options))
  backup
    .command('verify')
    .argument('[path]', 'folder of backups (its newest), or one backup (default: backups in PARLEY_DATA_DIR)')
    .description('restore a backup into a scratch server, run parley verify on it, and remove it')
    .action((path) => verify(invocation, path))
  program
    .command('restore')
    .argument('<path>', 'folder of backups (its newest), or one backup')
    .description('restore a backup into PARLEY_DATA_DIR; the service must be stopped')
    .option('--replace', 'move what the data folder holds aside')
    .option('--json', 'print JSON')
    .action((path, options) => restore(invocation, path, options))
}

function readCount(given: string): number {
  const count = Number(given)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_KEPT) return count
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_KEPT}.`)
}

async function take({ env, streams }: Invocation, { to, keep, json }: Options): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const folder = resolve(to ?? join(config.dataDir, 'backups'))
  const taken = await withProgress(streams, json === true, async (progress) => {
    const open = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
    try {
      return await explained(folder, () => takeBackup(config, open.connection, folder, keep ?? null, progress))
    } finally {
      await open.close()
    }
  })
  printFields(streams, { folder, ...taken }, json === true ? { json } : {})
  if (taken.hasSecrets)
    printNote(streams, `${folder} now holds the secrets of this service: keep it as safe as they are`)
  else
    printNote(streams, 'PARLEY_SECRET is not in the backup: keep it elsewhere, since nothing can be decrypted without')
  if (!taken.hasMedia)
    printNote(streams, 'Files of messages are in the bucket of PARLEY_MEDIA_URL and not in the backup')
}

async function restore({ env, streams }: Invocation, path: string, { replace = false, json }: Options): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const chosen = await chooseBackup(resolve(path))
  await requireStopped(config)
  const { point, hasMedia, replaced } = await withProgress(streams, json === true, (progress) =>
    explained(config.dataDir, () => restoreBackup(chosen, config.dataDir, replace, progress)),
  )
  const interruptedBroadcasts = await findInterrupted(config)
  const restored = { dataDir: config.dataDir, point, hasMedia, replaced }
  if (json === true) printFields(streams, { ...restored, interruptedBroadcasts }, { json })
  else {
    printFields(streams, restored, {})
    printInterrupted(streams, interruptedBroadcasts)
  }
  printNote(
    streams,
    `The service continues from ${point}; what happened after that is lost. docs/backup.md says what to do`,
  )
}

/** The broadcasts that the service will pause when it starts. */
async function findInterrupted(config: Config): Promise<Interrupted[]> {
  const open = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  try {
    await prepareSchema(config, open.database, { migrate: true })
    return await listInterrupted({ database: open.database, clock: () => new Date() })
  } finally {
    await open.close()
  }
}

function printInterrupted(streams: Streams, interrupted: readonly Interrupted[]): void {
  if (interrupted.length === 0) return
  printNote(streams, 'The service pauses these broadcasts when it starts, until somebody resumes or cancels them:')
  printList(streams, interrupted, {}, ({ organization, id, name, status, withoutMessage, prepared }) => ({
    organization,
    id,
    name,
    status,
    recipients_without_message: prepared ? withoutMessage : `at least ${withoutMessage}`,
  }))
}

async function verify({ env, streams }: Invocation, path: string | undefined): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const chosen = await chooseBackup(resolve(path ?? join(config.dataDir, 'backups')))
  const scratch = await mkdtemp(join(chosen.folder, 'scratch-'))
  const report = await withProgress(streams, false, (progress) =>
    explained(chosen.folder, async () => {
      const { hasMedia } = await checkBackup(chosen, progress)
      await writeFiles(chosen, scratch, progress, { link: true })
      const scratchConfig: Config = { ...config, dataDir: scratch }
      const open = await openConfiguredDatabase(scratchConfig, createLogger('error'), { hold: true })
      try {
        await prepareSchema(scratchConfig, open.database, { migrate: true })
        const blobs = hasMedia ? createFileStore(join(scratch, 'media')) : null
        const ctx = { database: open.database, clock: () => new Date(), channelNames: config.channelNames, blobs }
        return await verifyTold(ctx, undefined, streams, progress, false)
      } finally {
        await open.close()
      }
    }),
  ).finally(() => rm(scratch, { recursive: true, force: true }))
  printSummary(streams, report)
  if (report.violationCount > 0)
    throw new CliFailure(1, `Backup ${chosen.name} has ${report.violationCount} violations`)
  printDone(streams, `Backup ${chosen.name} is complete and can be restored`)
}

function requireEmbedded(config: Config): Config {
  if (config.databaseUrl === undefined) return config
  throw new CliFailure(
    2,
    'PARLEY_DATABASE_URL names an external PostgreSQL, which has backups of its own: docs/backup.md tells how',
  )
}

/** A server that is opened on the folder would be one of a running service. */
async function requireStopped(config: Config): Promise<void> {
  if (!(await isServed(join(config.dataDir, 'postgres')))) return
  throw new CliFailure(1, `A service is running on ${config.dataDir}: stop it first`)
}

async function withProgress<Result>(
  streams: Streams,
  quiet: boolean,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(streams, quiet, 'files')
  try {
    return await work(progress)
  } finally {
    progress.end()
  }
}

/** Says what to do when the disk is full. What was written stays, and the next run continues. */
async function explained<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
    throw new CliFailure(1, `The disk of ${folder} is full: make room and run the command again, which then continues`)
  }
}
