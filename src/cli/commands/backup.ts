import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { createFileStore } from '../../blobs/files.js'
import type { Config } from '../../config/settings.js'
import { type Interrupted, listInterrupted } from '../../core/broadcasts/read.js'
import { EmbeddedDatabaseError, holdFolder, noteBackup } from '../../database/embedded.js'
import { makeFolder } from '../../lib/files/make-folder.js'
import { createLogger } from '../../log.js'
import { unpackArchive, type Write } from '../backup/archive.js'
import { explained, openArchive, STANDARD, writeFile, writeTo } from '../backup/file.js'
import { restoreBackup } from '../backup/restore.js'
import { takeBackup } from '../backup/take.js'
import { openConfiguredDatabase, prepareSchema, requireConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Invocation, Streams } from '../invocation.js'
import { printDone, printFields, printList, printNote } from '../output.js'
import { createProgress, type Progress } from '../progress.js'
import { printSummary, verifyTold } from './verify.js'

interface Options {
  replace?: boolean
  json?: boolean
}

/** `parley backup`, `parley backup verify` and `parley restore`: archives of the embedded database and its files. */
export function addBackupCommands(program: Command, invocation: Invocation): void {
  const backup = program
    .command('backup')
    .argument('<file>', 'the archive (a tar file) to write; - is standard output')
    .description('back up the embedded database, the files of messages and the secrets, beside a running service too')
    .option('--replace', 'replace the file if it exists, when the new archive is complete')
    .option('--json', 'print JSON')
    .action((file, options) => take(invocation, file, options))
  backup
    .command('verify')
    .argument('<file>', 'the archive; - is standard input')
    .description(
      'restore an archive into a scratch server in a temporary folder (TMPDIR), run parley verify on it, and remove it',
    )
    .action((file) => verify(invocation, file))
  program
    .command('restore')
    .argument('<file>', 'an archive that parley backup has written; - is standard input')
    .description('restore an archive into PARLEY_DATA_DIR; the service must be stopped')
    .option('--replace', 'move what the data folder holds aside')
    .option('--json', 'print JSON')
    .action((file, options) => restore(invocation, file, options))
}

async function take({ env, streams }: Invocation, name: string, { replace, json }: Options): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const file = name === STANDARD ? 'standard output' : resolve(name)
  const taken = await withProgress(streams, json === true, async (progress) => {
    const open = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
    const takeTo = (write: Write) => takeBackup(config, open.connection, write, progress)
    try {
      return await explained(file, () =>
        name === STANDARD ? takeTo(writeTo(streams)) : writeFile(file, replace === true, takeTo),
      )
    } finally {
      await open.close()
    }
  })
  const { point, hasMedia, hasSecrets } = taken
  await noteBackup(config.dataDir, new Date(point)).catch((error: Error) =>
    printNote(streams, `The age of this backup will not be shown, because it could not be noted: ${error.message}`),
  )
  // Standard output has the archive.
  const output = name === STANDARD ? { ...streams, stdout: streams.stderr } : streams
  printFields(output, { file, point, hasMedia, hasSecrets }, { json })
  if (hasSecrets) printNote(streams, `${file} now holds the secrets of this service: keep it as safe as they are`)
  else
    printNote(streams, 'PARLEY_SECRET is not in the backup: keep it elsewhere, since nothing can be decrypted without')
  if (!hasMedia) printNote(streams, 'Files of messages are in the bucket of PARLEY_MEDIA_URL and not in the backup')
}

async function restore({ env, streams }: Invocation, name: string, { replace = false, json }: Options): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const { dataDir } = config
  const input = await openArchive(name, streams, 'parley backup')
  const letGo = await holdData(config)
  const restored = await withProgress(streams, json === true, (progress) =>
    explained(dataDir, () =>
      restoreBackup(input, dataDir, {
        replace,
        progress,
        look: (folder) => findInterrupted({ ...config, dataDir: folder }),
      }),
    ),
  ).finally(letGo)
  const { point, hasMedia, replaced, found: interruptedBroadcasts } = restored
  if (json === true) printFields(streams, { dataDir, point, hasMedia, replaced, interruptedBroadcasts }, { json })
  else {
    printFields(streams, { dataDir, point, hasMedia, replaced }, {})
    printInterrupted(streams, interruptedBroadcasts)
  }
  printNote(
    streams,
    `The service continues from ${point}; what happened after that is lost. docs/backup.md says what to do`,
  )
}

/** Keeps services from starting on the data folder; returns what ends that. */
async function holdData({ dataDir }: Config): Promise<() => Promise<void>> {
  await makeFolder(dataDir, 0o700)
  return holdFolder(join(dataDir, 'postgres')).catch((error) => {
    if (error instanceof EmbeddedDatabaseError) throw new CliFailure(1, error.message)
    throw error
  })
}

/** The broadcasts that the service will pause when it starts. */
async function findInterrupted(config: Config): Promise<Interrupted[]> {
  const open = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: true })
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

async function verify({ env, streams }: Invocation, name: string): Promise<void> {
  const config = requireEmbedded(requireConfig(env))
  const input = await openArchive(name, streams, 'parley backup')
  const scratch = await mkdtemp(join(tmpdir(), 'parley-verify-'))
  const report = await withProgress(streams, false, (progress) =>
    explained(scratch, async () => {
      progress.begin('restoring')
      const { hasMedia } = await unpackArchive(input, scratch, progress, { scratch: true })
      const scratchConfig: Config = { ...config, dataDir: scratch }
      const open = await openConfiguredDatabase(scratchConfig, createLogger('error'), { hold: true })
      try {
        await prepareSchema(scratchConfig, open.database, { migrate: true })
        const blobs = hasMedia ? createFileStore(join(scratch, 'media')) : null
        const ctx = { database: open.database, clock: () => new Date(), channelNames: config.channelNames, blobs }
        return await verifyTold(ctx, undefined, progress, streams)
      } finally {
        await open.close()
      }
    }),
  ).finally(() => rm(scratch, { recursive: true, force: true }))
  printSummary(streams, report)
  if (report.violationCount > 0) throw new CliFailure(1, `The archive has ${report.violationCount} violations`)
  printDone(streams, 'The archive is complete and can be restored')
}

function requireEmbedded(config: Config): Config {
  if (config.databaseUrl === undefined) return config
  throw new CliFailure(
    2,
    'PARLEY_DATABASE_URL names an external PostgreSQL, which has backups of its own: docs/backup.md says how',
  )
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
