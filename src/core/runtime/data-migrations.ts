import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import { countUntyped, fillGatewayTypes } from '../../storage/instances/gateway-types.js'
import {
  advanceDataMigration,
  type DataMigrationProgress,
  listDataMigrations,
  startDataMigration,
} from '../../storage/runtime/data-migrations.js'

/** A change of old rows, made in batches while the service runs. */
export interface DataMigration {
  name: string
  /** The number of rows to be changed. An index makes it cheap when there are none. */
  count(db: Queryable): Promise<number>
  /** Changes the next rows after `position` (null: from the first one). Can be repeated. */
  batch(db: Queryable, position: unknown): Promise<Batch>
}

/** What a batch has done. `position`: its last row; null: there are no more. */
export interface Batch {
  position: unknown
  rows: number
}

/** In this order. A new one is added here, and removed when the last version that wrote such rows is no longer supported. */
const DATA_MIGRATIONS: DataMigration[] = [
  { name: 'message_gateway_types', count: countUntyped, batch: fillGatewayTypes },
]

/** An older process may have written more of such rows after a pass. */
const PASS_EVERY_MS = 24 * 60 * 60_000
/** Until the next slice. */
const NEXT_SLICE_MS = 50

export type { DataMigrationProgress } from '../../storage/runtime/data-migrations.js'

/** How far the data migrations are; those that were never begun are left out. */
export function findDataMigrations({ database }: Pick<Context, 'database'>): Promise<DataMigrationProgress[]> {
  return listDataMigrations(database)
}

type MigrationContext = Pick<Context, 'database' | 'clock' | 'log'>

/**
 * Makes a slice of the data migrations, as a job. Each is passed over once a day. After each batch it stores how far it
 * is, and pauses for as long as the batch took, so that the service is slowed down little.
 */
export async function runDataMigrations(
  ctx: MigrationContext,
  signal: AbortSignal,
  migrations: readonly DataMigration[] = DATA_MIGRATIONS,
): Promise<Again | null> {
  const until = performance.now() + SLICE_MS
  const progress = new Map((await listDataMigrations(ctx.database)).map((one) => [one.name, one]))
  for (const migration of migrations) {
    const found = progress.get(migration.name)
    if (found && !isDue(found, ctx.clock())) continue
    if (!(await continuePass(ctx, migration, found, until, signal))) return { againInMs: NEXT_SLICE_MS }
  }
  return null
}

function isDue({ finished_at: finishedAt }: DataMigrationProgress, now: Date): boolean {
  return finishedAt === null || now.getTime() - finishedAt.getTime() >= PASS_EVERY_MS
}

/** Resolves to whether the pass has ended. */
async function continuePass(
  { database, log }: MigrationContext,
  { name, count, batch }: DataMigration,
  found: DataMigrationProgress | undefined,
  until: number,
  signal: AbortSignal,
): Promise<boolean> {
  let position = found?.finished_at === null ? found.position : null
  if (found?.finished_at !== null) {
    const total = await count(database)
    await startDataMigration(database, name, total)
    if (total > 0) log.info({ migration: name, rows: total }, 'a data migration begins')
  }
  for (;;) {
    const started = performance.now()
    const done = await batch(database, position)
    await advanceDataMigration(database, name, done.position, done.rows)
    if (done.position === null) return true
    position = done.position
    if (performance.now() > until) return false
    await sleep(performance.now() - started, signal)
  }
}
