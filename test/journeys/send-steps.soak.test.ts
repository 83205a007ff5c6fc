import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { IS_LONG, TIMES } from '../support/times.js'
import { type FileServer, startFileServer } from './support/file-server.js'
import { endPrograms } from './support/programs.js'
import { expectConversations, expectNothingTwice, expectSoundTables } from './support/proof.js'
import { createOrganization, makeFolder, sharedSecrets, startSandbox, startService, urlOf } from './support/service.js'
import { playStep, type StepStage } from './support/step-rounds.js'
import { STEPS } from './support/steps.js'
import { startUpstreamProxy, type UpstreamProxy } from './support/upstream-proxy.js'

/** A round takes seconds. Each step has a neighbour that differs in one thing only. */
const PLAYED = STEPS.filter((_, index) => IS_LONG || index % 2 === 0)
const rounds = PLAYED.flatMap((step) => Array.from({ length: TIMES }, () => step)).map(
  (step, index) => [step.name, index + 1, step] as const,
)

let database: TestDatabase
let folder: Awaited<ReturnType<typeof makeFolder>>
let proxy: UpstreamProxy
let files: FileServer
let stage: StepStage

beforeAll(async () => {
  database = await createTestDatabase()
  folder = await makeFolder()
  files = await startFileServer()
  const sandbox = await startSandbox()
  proxy = await startUpstreamProxy(sandbox.upstreamUrl)
  const restart = () =>
    startService({
      ...sharedSecrets,
      PARLEY_DATABASE_URL: urlOf(database.connection),
      PARLEY_DATA_DIR: join(folder.path, 'data'),
      PARLEY_UPSTREAM_URL: proxy.upstreamUrl,
      PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      PARLEY_RATE_LIMIT: '0',
    })
  const service = await restart()
  const organizations = [await createOrganization(service), await createOrganization(service)]
  stage = { database, sandbox, proxy, files, organizations, conversations: [], service, restart }
})

afterAll(async () => {
  await endPrograms()
  await proxy?.close()
  await files?.close()
  await database?.drop()
  await folder?.remove()
})

describe('a service that is killed at a step of a send', () => {
  it.each(rounds)('%s: sends at most once, seed %i', (_, seed, step) => playStep(stage, step, seed))

  it('has recorded every message that the upstream accepted, and sent none twice', async () => {
    const record = await stage.sandbox.accepted()
    expectNothingTwice(record)
    const { conversations } = stage
    const known = new Set(conversations.map(({ organization, number }) => `${organization.phoneNumberId} ${number}`))
    expect(record.filter(({ phone_number_id, to }) => !known.has(`${phone_number_id} ${to}`))).toEqual([])
    await expectConversations({ ...stage, record }, conversations, 3)
    await expectSoundTables(database)
  })
})
