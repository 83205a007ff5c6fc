import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { descendantsOf, stillRunning } from './support/process-table.js'
import { endPrograms } from './support/programs.js'
import { playRound, type Stage } from './support/rounds.js'
import { createOrganization, makeFolder, type Service, startSandbox, startService } from './support/service.js'

let folder: Awaited<ReturnType<typeof makeFolder>>
let stage: Omit<Stage, 'kill'>

beforeAll(async () => {
  folder = await makeFolder()
  const sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, slow_ms: 150, duplicate: 0.1, disorder: 0.2 })
  const start = () =>
    startService({
      PARLEY_DATA_DIR: join(folder.path, 'data'),
      PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
      PARLEY_RATE_LIMIT: '0',
    })
  const service = await start()
  stage = { sandbox, organization: await createOrganization(service), service, restart: start }
})

afterAll(async () => {
  await endPrograms()
  await folder?.remove()
})

describe('a service with the embedded database that is killed under load', () => {
  it.each([71, 72])('keeps its promises when only the service dies, seed %i', async (seed) => {
    await playOn(seed, async ({ program }) => program.killGroup())
  })

  it.each([81, 82])('keeps its promises when PostgreSQL and its watchdog die too, seed %i', async (seed) => {
    await playOn(seed, async ({ program }) => {
      const all = [program.pid, ...(await descendantsOf(program.pid))]
      expect(all.length).toBeGreaterThan(3)
      for (const pid of await stillRunning(all)) killIfRunning(pid)
    })
  })
})

async function playOn(seed: number, kill: (service: Service) => Promise<void>): Promise<void> {
  const played: Stage = { ...stage, kill }
  await playRound(played, seed)
  stage.service = played.service
}

/** One process takes others down with it: what was running a moment ago may have ended. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
