import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import type { BlobStore } from '../../blobs/blob-store.js'
import { copyIn } from '../../database/copy.js'
import { isDataException } from '../../database/errors.js'
import { listMigrations } from '../../database/migrations/files.js'
import { readSchema } from '../../database/migrations/state.js'
import { isUuid } from '../../lib/bytes/id.js'
import { createSecretBox } from '../../lib/crypto/secret-box.js'
import { errorMessage } from '../../lib/text/error-message.js'
import { blobKey } from '../../model/messages/media.js'
import {
  beginDirectory,
  beginFeed,
  copyInto,
  DIRECTORY,
  EVENTS,
  type EventTransactions,
  endForward,
  enqueueIndexings,
  hasOrganizationRow,
  listMovedTables,
  lockImports,
  type MovedTable,
  raiseEventNumber,
  readEventTransactions,
  takeUpDirectory,
} from '../../storage/maintenance/moved-tables.js'
import { damagedArchive, readArchive } from '../backup/archive.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { EXPORT, FILE, MANIFEST, type Manifest, type MovedHead, ROWS } from './archive.js'
import type { MovingContext } from './export.js'
import { changeRows, countRowsOf, replaceLastField } from './rows.js'
import { createResealer, type Resealer } from './secrets.js'

/** What the kinds of the directory mean to an operator. */
const HELD: Readonly<Record<string, string>> = {
  slug: 'slug',
  phone_number_id: 'number',
  business_account_id: 'business account',
  short_link: 'short links',
}
/** Collects the rows of the directory. */
const COLLECTED = 'moved_directory'
const WRITTEN_AT_ONCE = 16

/** The rows that are written. */
interface Writing {
  manifest: Manifest
  tables: ReadonlyMap<string, MovedTable>
  transactions: EventTransactions
  resealer: Resealer
  rows: Record<string, number>
}

/**
 * Writes the organization of an archive in one transaction, its files before; it stays suspended. Throws a CliFailure if
 * the archive is damaged, or of another schema, or if something of it is here already; then nothing was written.
 */
export async function importOrganization(
  ctx: MovingContext,
  input: AsyncIterable<Uint8Array>,
  progress: Progress,
): Promise<MovedHead> {
  const client = await ctx.database.pool.connect()
  const folder = await mkdtemp(join(tmpdir(), 'parley-import-'))
  const files = createFileWriter(ctx.blobs, folder)
  const read: { manifest: Manifest | null; writing: Writing | null } = { manifest: null, writing: null }
  let isCommitting = false
  try {
    // It locks nothing else and holds nothing back until the first row is written.
    await client.query('BEGIN')
    progress.begin('waiting for other imports')
    await lockImports(client)
    const head = await readArchive<MovedHead>(input, EXPORT, async ({ name }, content) => {
      if (name === MANIFEST) {
        read.manifest = await readManifest(ctx, client, await buffer(content))
        return
      }
      const { manifest } = read
      if (manifest === null) throw damagedArchive(EXPORT, `it does not begin with ${MANIFEST}`)
      const [, fileId] = FILE.exec(name) ?? []
      if (fileId !== undefined) {
        progress.begin('files')
        await files.write(blobKey(manifest.organization.id, fileId), content)
        return
      }
      read.writing ??= await begin(ctx, client, manifest)
      const [, table = ''] = ROWS.exec(name) ?? []
      progress.begin(table)
      progress.advance(await writeRows(client, read.writing, table, await buffer(content)))
    })
    if (read.writing === null) throw damagedArchive(EXPORT, 'it has no rows')
    await files.written()
    await finish(client, read.writing, head)
    isCommitting = true
    await client.query('COMMIT')
    return head
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    // If the answer to COMMIT is lost, the rows may be there. Files without rows do no harm, rows without files do.
    if (!isCommitting) await files.remove().catch(() => undefined)
    throw error
  } finally {
    client.release()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Stores files by way of `folder`, some at a time: most of the time each waits for the disk or the bucket. */
function createFileWriter(blobs: BlobStore, folder: string) {
  const keys: string[] = []
  const writing = new Set<Promise<void>>()
  return {
    /** Resolves when the content is read; the file may not be stored yet. Rejects also for an earlier one. */
    write: async (key: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
      const path = join(folder, basename(key))
      await pipeline(content, createWriteStream(path, { mode: 0o600 }))
      keys.push(key)
      const stored = blobs.put(key, path, 'application/octet-stream').then(() => rm(path))
      writing.add(stored)
      // One that fails stays, for who waits.
      stored.then(
        () => writing.delete(stored),
        () => undefined,
      )
      if (writing.size >= WRITTEN_AT_ONCE) await Promise.race(writing)
    },
    /** Resolves when all are stored. */
    written: async (): Promise<void> => {
      await Promise.all(writing)
    },
    /** Removes all of them. */
    remove: async (): Promise<void> => {
      await Promise.allSettled(writing)
      await blobs.remove(keys)
    },
  }
}

async function readManifest({ database }: MovingContext, client: pg.ClientBase, content: Buffer): Promise<Manifest> {
  const manifest = parseManifest(content.toString())
  const { id, slug } = manifest.organization
  const { applied } = await readSchema(database.pool)
  const here = applied.map(({ version }) => version)
  if (here.join() !== manifest.migrations.join()) {
    throw new CliFailure(
      1,
      `The archive was written by ${manifest.parley} with the migrations up to ${manifest.migrations.at(-1)}, and this database has those up to ${here.at(-1)}: ${await howToAlign(here, manifest.migrations)}`,
    )
  }
  if (await hasOrganizationRow(client, id)) {
    throw new CliFailure(
      1,
      `The organization "${slug}" (${id}) is here already, or its deletion has not ended yet: if it was deleted, run the command again in some minutes`,
    )
  }
  return manifest
}

/** What gives the databases of both cells the same migrations, said to the operator. */
async function howToAlign(here: readonly number[], there: readonly number[]): Promise<string> {
  const lackedHere = there.filter((version) => !here.includes(version))
  const lackedThere = here.filter((version) => !there.includes(version))
  const contracts = (await listMigrations()).filter(({ contractAfter }) => contractAfter !== null)
  const isContract = (one: number) => contracts.some(({ version }) => version === one)
  if (![...lackedHere, ...lackedThere].every(isContract)) return 'upgrade the older one of the two cells'
  return lackedThere.length > 0
    ? `run 'parley migrate --contract' in the old cell, which lacks ${lackedThere.join(', ')}, and export again`
    : `run 'parley migrate --contract' in this cell, which lacks ${lackedHere.join(', ')}, and import again`
}

function parseManifest(text: string): Manifest {
  try {
    const manifest: Manifest = JSON.parse(text)
    if (manifest.format === 1 && isUuid(manifest.organization.id)) return manifest
  } catch {
    // As if it had another format.
  }
  throw damagedArchive(EXPORT, `its ${MANIFEST} cannot be read`)
}

async function begin({ secrets }: MovingContext, client: pg.ClientBase, manifest: Manifest): Promise<Writing> {
  await beginDirectory(client, COLLECTED)
  const tables = new Map((await listMovedTables(client)).map((table) => [table.name, table]))
  const transactions = await readEventTransactions(client)
  const resealer = createResealer(manifest.organization.id, createSecretBox([manifest.key]), secrets)
  return { manifest, tables, transactions, resealer, rows: {} }
}

async function writeRows(client: pg.ClientBase, writing: Writing, name: string, given: Buffer): Promise<number> {
  const { manifest, tables, transactions, resealer, rows } = writing
  const table = tables.get(name)
  const count = countRowsOf(manifest.organization.id, given)
  if (table === undefined || count === null) {
    throw new CliFailure(1, `The archive has rows of ${name} that are not of the organization: nothing was imported`)
  }
  const change = resealer.of(table)
  const lines = change === null ? given : changeRows(given, change)
  const { own, past } = transactions
  try {
    await copyIn(
      client,
      copyInto(table, name === DIRECTORY ? COLLECTED : name),
      name === EVENTS ? replaceLastField(lines, [own, past]) : lines,
    )
  } catch (error) {
    // The seal, which would show it, comes last.
    if (isDataException(error)) throw damagedArchive(EXPORT, `its rows of ${name} are wrong: ${errorMessage(error)}`)
    throw error
  }
  rows[name] = (rows[name] ?? 0) + count
  return count
}

async function finish(
  client: pg.ClientBase,
  { manifest, transactions, rows }: Writing,
  head: MovedHead,
): Promise<void> {
  for (const name of new Set([...Object.keys(rows), ...Object.keys(head.rows)])) {
    if (rows[name] === head.rows[name]) continue
    throw new CliFailure(
      1,
      `The archive should have ${head.rows[name] ?? 0} rows of ${name}, and has ${rows[name] ?? 0}`,
    )
  }
  const taken = await takeUpDirectory(client, COLLECTED)
  if (taken.length > 0) {
    const what = taken.map((kind) => HELD[kind] ?? kind).join(', ')
    throw new CliFailure(
      1,
      `Another organization of this cell has what is unique in a cell: its ${what}. Change it there, or change it at the old cell and export again`,
    )
  }
  await beginFeed(client, manifest.organization.id, transactions)
  await raiseEventNumber(client, manifest.eventNumber)
  await enqueueIndexings(client, manifest.organization.id)
  await endForward(client, manifest.organization.id)
}
