import { verifyDatabase } from '../../src/core/maintenance/verify.js'
import { openDatabase } from '../../src/database/pool.js'
import { memoryOf } from '../processes.js'
import { startScaleWorld } from '../scale-world.js'
import type { Run } from '../server.js'

/** The cost of verifying a database. */
export interface Verified {
  messages: number
  /** Rows that were read; one may be read by several comparisons. */
  rows: number
  seconds: number
  violations: number
  /** The greatest RSS of the verifying process, in MB. */
  memoryMb: number
}

/** Verifies the large database of `scale`. */
export async function measureVerify(run: Run, messages: number, keep: string | null): Promise<Verified> {
  const { large } = await startScaleWorld(run, messages, keep)
  const database = openDatabase({ connectionString: large.url }, 1, () => undefined)
  const measured: Verified = { messages, rows: 0, seconds: 0, violations: 0, memoryMb: 0 }
  const startedAt = performance.now()
  await verifyDatabase({ database, blobs: null, clock: () => new Date(), channelNames: ['chat'] }, undefined, {
    begins: () => undefined,
    read: (rows) => {
      measured.rows += rows
      measured.memoryMb = Math.max(measured.memoryMb, memoryOf(process.pid))
    },
    violation: () => measured.violations++,
    note: () => undefined,
  })
  measured.seconds = (performance.now() - startedAt) / 1_000
  await database.close()
  return measured
}
