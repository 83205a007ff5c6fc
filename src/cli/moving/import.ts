import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { copyIn } from '../../database/copy.js'
import { readSchema } from '../../database/migrations/state.js'
import { isUuid } from '../../lib/bytes/id.js'
import { createSecretBox } from '../../lib/crypto/secret-box.js'
import { blobKey } from '../../model/messages/media.js'
import {
  beginDirectory,
  copyInto,
  DIRECTORY,
  EVENTS,
  type EventTransactions,
  endForward,
  hasOrganizationRow,
  listMovedTables,
  lockImports,
  type MovedTable,
  raiseEventNumber,
  readEventTransactions,
  takeUpDirectory,
} from '../../storage/maintenance/moved-tables.js'
import { readArchive } from '../backup/archive.js'
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
  const stored: string[] = []
  const read: { manifest: Manifest | null; writing: Writing | null } = { manifest: null, writing: null }
  try {
    const head = await readArchive<MovedHead>(input, EXPORT, async ({ name }, content) => {
      if (name === MANIFEST) {
        read.manifest = await readManifest(ctx, client, await buffer(content))
        return
      }
      const { manifest } = read
      if (manifest === null) throw new CliFailure(1, `The archive does not begin with ${MANIFEST}`)
      const [, fileId] = FILE.exec(name) ?? []
      if (fileId === undefined) {
        read.writing ??= await begin(ctx, client, manifest)
        const [, table = ''] = ROWS.exec(name) ?? []
        progress.begin(table)
        progress.advance(await writeRows(client, read.writing, table, await buffer(content)))
        return
      }
      progress.begin('files')
      const path = join(folder, fileId)
      await pipeline(content, createWriteStream(path, { mode: 0o600 }))
      const key = blobKey(manifest.organization.id, fileId)
      stored.push(key)
      await ctx.blobs.put(key, path, 'application/octet-stream')
      await rm(path)
    })
    if (read.writing === null) throw new CliFailure(1, 'The archive has no rows')
    await finish(client, read.writing, head)
    return head
  } catch (error) {
    if (read.writing !== null) await client.query('ROLLBACK').catch(() => undefined)
    await ctx.blobs.remove(stored)
    throw error
  } finally {
    client.release()
    await rm(folder, { recursive: true, force: true })
  }
}

async function readManifest({ database }: MovingContext, client: pg.ClientBase, content: Buffer): Promise<Manifest> {
  const manifest: Manifest = JSON.parse(content.toString())
  const { id, slug } = manifest.organization
  if (!isUuid(id)) throw new CliFailure(1, `The archive is of an organization with the id "${id}", which is none`)
  const { applied } = await readSchema(database.pool)
  const here = applied.map(({ version }) => version)
  if (here.join() !== manifest.migrations.join()) {
    throw new CliFailure(
      1,
      `The archive was written by ${manifest.parley} with the migrations up to ${manifest.migrations.at(-1)}, and this database has those up to ${here.at(-1)}: upgrade the older of both`,
    )
  }
  if (await hasOrganizationRow(client, id)) {
    throw new CliFailure(
      1,
      `The organization "${slug}" (${id}) is here already, suspended or being deleted: see parley org list`,
    )
  }
  return manifest
}

async function begin({ secrets }: MovingContext, client: pg.ClientBase, manifest: Manifest): Promise<Writing> {
  await client.query('BEGIN')
  await lockImports(client)
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
  await copyIn(
    client,
    copyInto(table, name === DIRECTORY ? COLLECTED : name),
    name === EVENTS ? replaceLastField(lines, [own, past]) : lines,
  )
  rows[name] = (rows[name] ?? 0) + count
  return count
}

async function finish(client: pg.ClientBase, { manifest, rows }: Writing, head: MovedHead): Promise<void> {
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
    throw new CliFailure(1, `Another organization of this cell has what is unique in a cell: its ${what}`)
  }
  await raiseEventNumber(client, manifest.eventNumber)
  await endForward(client, manifest.organization.id)
  await client.query('COMMIT')
}
