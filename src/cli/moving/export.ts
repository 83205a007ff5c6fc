import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { BlobStore } from '../../blobs/blob-store.js'
import { copyOut } from '../../database/copy.js'
import { readSchema } from '../../database/migrations/state.js'
import type { Database } from '../../database/pool.js'
import { sleep } from '../../lib/async/backoff.js'
import { slices } from '../../lib/async/batches.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { createSecretBox, type SecretBox } from '../../lib/crypto/secret-box.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { blobKey } from '../../model/messages/media.js'
import {
  copyOutOf,
  countInProgress,
  listMovedFiles,
  listMovedTables,
  readEventNumber,
  readSuspension,
} from '../../storage/maintenance/moved-tables.js'
import { type Archive, beginArchive, type Write } from '../backup/archive.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { EXPORT, MANIFEST, type Manifest, type MovedHead } from './archive.js'
import { changeRows } from './rows.js'
import { createResealer } from './secrets.js'

/** What exports and imports use. */
export interface MovingContext {
  database: Database
  blobs: BlobStore
  secrets: SecretBox
}

/** An archive in progress. */
interface Writing extends MovingContext {
  /** In the transaction of the snapshot. */
  client: pg.ClientBase
  archive: Archive<MovedHead>
  manifest: Manifest
  progress: Progress
}

/** As much of a table is in memory at a time. */
const PIECE_BYTES = 4 * MEBIBYTE
const FILES_AT_ONCE = 500
const OPENED_AT_ONCE = 8
const KEY_BYTES = 32
const LOOK_MS = 500
/** Work that takes longer is interrupted or put back by then. */
const GIVE_UP_MS = 15 * 60_000

/**
 * Writes an archive of a suspended organization, once nothing of it is in progress: its rows as one snapshot shows them,
 * and its files. Throws a CliFailure if it is not suspended all the time.
 */
export async function exportOrganization(
  ctx: MovingContext,
  organization: { id: string; slug: string },
  write: Write,
  progress: Progress,
): Promise<MovedHead> {
  const since = await untilQuiet(ctx.database, organization, progress)
  const client = await ctx.database.pool.connect()
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const archive = beginArchive<MovedHead>(write, progress, undefined, EXPORT)
    const manifest = await addManifest(ctx, client, archive, organization)
    const writing: Writing = { ...ctx, client, archive, manifest, progress }
    const files = await addFiles(writing)
    const rows = await addRows(writing)
    const { exportedAt } = manifest
    const head: MovedHead = { format: 1, organization: manifest.organization, exportedAt, files, rows }
    const suspension = await readSuspension(ctx.database.pool, organization.id)
    if (suspension?.since.getTime() !== since.getTime()) throw new CliFailure(1, resumed(organization))
    await archive.seal(head)
    return head
  } finally {
    await client.query('ROLLBACK').catch(() => undefined)
    client.release()
  }
}

/** Waits until all that began before the suspension has ended. Resolves to the moment of the suspension. */
async function untilQuiet(
  { pool }: Database,
  organization: { id: string; slug: string },
  progress: Progress,
): Promise<Date> {
  progress.begin('waiting for what is in progress')
  const startedAt = performance.now()
  for (;;) {
    const suspension = await readSuspension(pool, organization.id)
    if (suspension === null) throw new CliFailure(1, resumed(organization))
    const count = await countInProgress(pool, organization.id)
    if (suspension.requestsEndIn <= 0 && count === 0) return suspension.since
    if (performance.now() - startedAt > GIVE_UP_MS) {
      throw new CliFailure(
        1,
        `${count} jobs, deliveries or callbacks are still in progress after ${GIVE_UP_MS / 60_000} minutes: restart the processes of this cell, and run the command again`,
      )
    }
    await sleep(Math.max(LOOK_MS, 1_000 * suspension.requestsEndIn))
  }
}

function resumed({ slug }: { slug: string }): string {
  return `The organization "${slug}" is not suspended, so it would change during the export: run parley org suspend ${slug}, and this command again`
}

async function addManifest(
  { database }: MovingContext,
  client: pg.ClientBase,
  archive: Archive<MovedHead>,
  { id, slug }: { id: string; slug: string },
): Promise<Manifest> {
  const { applied } = await readSchema(database.pool)
  const manifest: Manifest = {
    format: 1,
    parley: packageVersion,
    migrations: applied.map(({ version }) => version),
    organization: { id, slug },
    exportedAt: new Date().toISOString(),
    key: randomBytes(KEY_BYTES).toString('base64url'),
    eventNumber: await readEventNumber(client),
  }
  const content = Buffer.from(`${JSON.stringify(manifest)}\n`)
  await archive.add(MANIFEST, content.length, [content])
  return manifest
}

/** Files whose bytes are missing are left out: parley verify tells of them. */
async function addFiles({ blobs, client, archive, manifest, progress }: Writing): Promise<number> {
  const organizationId = manifest.organization.id
  progress.begin('files')
  let count = 0
  let ids = await listMovedFiles(client, organizationId, NIL_UUID, FILES_AT_ONCE)
  while (ids.length > 0) {
    const sizes = await blobs.sizes(ids.map((id) => blobKey(organizationId, id)))
    const found = ids.map((id, place) => ({ id, size: sizes[place] ?? null }))
    for (const some of slices(found, OPENED_AT_ONCE)) {
      // A bucket takes a while to answer; the next ones are asked for meanwhile.
      const opened = await Promise.all(
        some.map(async ({ id, size }) => {
          const bytes = size === null ? null : await blobs.open(blobKey(organizationId, id))
          // An error is thrown where the file is read.
          bytes?.on('error', () => undefined)
          return { id, size, bytes }
        }),
      )
      try {
        for (const { id, size, bytes } of opened) {
          if (size === null || bytes === null) continue
          await archive.add(`media/${id}`, size, bytes)
          count++
        }
      } finally {
        for (const { bytes } of opened) bytes?.destroy()
      }
    }
    ids = await listMovedFiles(client, organizationId, ids.at(-1) as string, FILES_AT_ONCE)
  }
  return count
}

async function addRows({ secrets, client, archive, manifest, progress }: Writing): Promise<Record<string, number>> {
  const {
    organization: { id },
    key,
  } = manifest
  const resealer = createResealer(id, secrets, createSecretBox([key]))
  const rows: Record<string, number> = {}
  for (const table of await listMovedTables(client)) {
    progress.begin(table.name)
    const change = resealer.of(table)
    let n = 0
    const count = await copyOut(client, copyOutOf(table, id), PIECE_BYTES, async (piece) => {
      n++
      const lines = change === null ? piece : changeRows(piece, change)
      await archive.add(`rows/${table.name}/${n}`, lines.length, [lines])
    })
    if (count > 0) rows[table.name] = count
    progress.advance(count)
  }
  return rows
}
