import { afterAll, beforeAll, expect, it } from 'vitest'
import { JOURNEY, type NoiseKind } from '../../../bench/neighbours/noise.js'
import { findNoise } from '../../../bench/neighbours/noises.js'
import { openQuietTenant, type QuietTenant } from '../../../bench/neighbours/quiet.js'
import { QUIET_WORK } from '../../../bench/neighbours/quiet-work.js'
import type { Stage } from '../../../bench/neighbours/stage.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { hasFfmpeg } from '../../support/ffmpeg.js'
import { endPrograms } from '../support/programs.js'
import { makeFolder, type Service, sharedSecrets, startSandbox, startService, urlOf } from '../support/service.js'

const ROUNDS = 10

interface Scene {
  stage: Stage
  service: Service
  quiet: QuietTenant
  close(): Promise<void>
}

/**
 * Tests for these kinds of noise, one after the other beside the same service: a quiet tenant does its rounds, and work
 * of the same kind, while the work of the noisy one is not done.
 */
export function expectQuietBeside(names: readonly string[]): void {
  let scene: Scene

  beforeAll(async () => {
    scene = await openScene()
  })

  afterAll(() => scene?.close())

  for (const name of names) {
    const kind = findNoise(name)
    it.skipIf(kind.needs === 'ffmpeg' && !hasFfmpeg)(kind.title, () => play(scene, kind))
  }
}

async function play({ stage, service, quiet }: Scene, kind: NoiseKind): Promise<void> {
  const noise = await kind.start(stage, JOURNEY)
  let isStopped = false
  try {
    for (let n = 1; n <= ROUNDS; n++) await quiet.round()
    if (kind.work !== null) await QUIET_WORK[kind.work](stage, quiet.tenant)
    expect(await noise.remaining()).toBeGreaterThan(0)
    isStopped = true
    await noise.stop()
  } finally {
    if (!isStopped) await noise.stop().catch(() => undefined)
  }
  expect(await Promise.race([service.program.exited, null])).toBe(null)
  expect(await service.request('GET', '/readyz')).toMatchObject({ status: 200 })
}

async function openScene(): Promise<Scene> {
  const folder = await makeFolder()
  const database: TestDatabase = await createTestDatabase()
  const sandbox = await startSandbox()
  const service = await startService({
    ...sharedSecrets,
    PARLEY_DATA_DIR: folder.path,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    PARLEY_RATE_LIMIT: '0',
    PARLEY_LOG_LEVEL: 'error',
  })
  const stage: Stage = {
    url: service.url,
    adminToken: sharedSecrets.PARLEY_ADMIN_TOKEN,
    sandboxUrl: new URL(sandbox.upstreamUrl).origin,
    database: database.pool,
  }
  const quiet = await openQuietTenant(stage)
  const close = async () => {
    await endPrograms()
    await quiet.close()
    await database.drop()
    await folder.remove()
  }
  return { stage, service, quiet, close }
}
