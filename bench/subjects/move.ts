import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileStore } from '../../src/blobs/files.js'
import { writeFile } from '../../src/cli/backup/file.js'
import { exportOrganization } from '../../src/cli/moving/export.js'
import { importOrganization } from '../../src/cli/moving/import.js'
import type { Progress } from '../../src/cli/progress.js'
import { verifyDatabase } from '../../src/core/maintenance/verify.js'
import { openDatabase } from '../../src/database/pool.js'
import { createSecretBox } from '../../src/lib/crypto/secret-box.js'
import { memoryOf } from '../processes.js'
import { NO_UPSTREAM, type Site, startScaleWorld } from '../scale-world.js'
import type { Run } from '../server.js'
import { makeFolder, serviceEnvironment, startService } from '../world.js'

/** The cost of moving an organization to another database of the same server, without files. */
export interface Moved {
  messages: number
  /** Of all its tables. */
  rows: number
  archiveMb: number
  exportSeconds: number
  importSeconds: number
  verifySeconds: number
  violations: number
  /** The greatest RSS of the moving process, in MB. */
  memoryMb: number
}

const CONNECTIONS = 4
const TARGET = 'moved'

/** Moves the measured organization of the large database of `scale`, which has more than half of its messages. */
export async function measureMove(run: Run, messages: number, keep: string | null): Promise<Moved> {
  const { large } = await startScaleWorld(run, messages, keep)
  const folder = await makeFolder(run)
  const env = serviceEnvironment(folder, NO_UPSTREAM)
  const organization = { id: large.organization.id, slug: 'bench' }
  const moving = {
    blobs: createFileStore(join(folder, 'media')),
    secrets: createSecretBox([String(env.PARLEY_SECRET)]),
  }
  const source = openDatabase({ connectionString: large.url }, CONNECTIONS, () => undefined)
  const target = openDatabase({ connectionString: await makeTarget(run, large, env) }, CONNECTIONS, () => undefined)
  run.add(() => target.close())
  run.add(() => source.close())
  // So long ago that no request from before is waited for.
  await suspend(large, `now() - interval '1 hour'`)
  let memoryMb = 0
  const progress: Progress = {
    expect: () => undefined,
    begin: () => undefined,
    advance: () => {
      memoryMb = Math.max(memoryMb, memoryOf(process.pid))
    },
    clear: () => undefined,
    end: () => undefined,
  }
  const archive = join(folder, 'moved.tar')
  const [head, exportSeconds] = await timed(() =>
    writeFile(archive, false, (write) =>
      exportOrganization({ database: source, ...moving }, organization, write, progress),
    ),
  )
  await suspend(large, 'NULL')
  const [, importSeconds] = await timed(() =>
    importOrganization({ database: target, ...moving }, createReadStream(archive), progress),
  )
  let violations = 0
  const verifying = { database: target, blobs: null, clock: () => new Date(), channelNames: ['chat'] }
  const [, verifySeconds] = await timed(() =>
    verifyDatabase(verifying, organization, {
      begins: () => undefined,
      read: progress.advance,
      violation: () => violations++,
      note: () => undefined,
    }),
  )
  return {
    messages: head.rows.messages ?? 0,
    rows: Object.values(head.rows).reduce((sum, count) => sum + count, 0),
    archiveMb: (await stat(archive)).size / 1e6,
    ...{ exportSeconds, importSeconds, verifySeconds, violations, memoryMb },
  }
}

/** Creates an empty database with the schema on the same server; resolves to its URL. */
async function makeTarget(run: Run, { database, url }: Site, env: Record<string, string>): Promise<string> {
  const drop = async () => {
    await database.query(`DROP DATABASE IF EXISTS ${TARGET} WITH (FORCE)`)
  }
  await drop()
  await database.query(`CREATE DATABASE ${TARGET}`)
  run.add(drop)
  const target = new URL(url)
  target.pathname = `/${TARGET}`
  const service = await startService(run, { ...env, PARLEY_DATABASE_URL: target.href }, ['--migrate'])
  await service.stop()
  return target.href
}

async function suspend({ database, organization }: Site, at: string): Promise<void> {
  await database.query(`UPDATE organization_rows SET suspended_at = ${at} WHERE id = $1`, [organization.id])
}

async function timed<Result>(work: () => Promise<Result>): Promise<[result: Result, seconds: number]> {
  const startedAt = performance.now()
  const result = await work()
  return [result, (performance.now() - startedAt) / 1_000]
}
