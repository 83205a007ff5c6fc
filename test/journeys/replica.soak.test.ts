import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../support/patience.js'
import type { TestOrganization } from '../support/world.js'
import { type ArchivedServer, findPostgres, type Standby, startArchivedServer } from './support/archiving-server.js'
import { endPrograms } from './support/programs.js'
import {
  createOrganization,
  makeFolder,
  type Service,
  sharedSecrets,
  startService,
  succeed,
} from './support/service.js'

describe.skipIf(findPostgres() === null)('a service with a replica', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>
  let server: ArchivedServer
  let standby: Standby
  let service: Service
  let organization: TestOrganization

  beforeAll(async () => {
    folder = await makeFolder()
    server = await startArchivedServer(String(findPostgres()), folder.path)
    standby = await server.startStandby()
    service = await startService(
      {
        ...sharedSecrets,
        PARLEY_DATABASE_URL: server.url,
        PARLEY_REPLICA_URL: standby.url,
        PARLEY_DATA_DIR: folder.path,
        PARLEY_UPSTREAM_URL: 'sandbox',
      },
      ['--migrate'],
    )
    organization = await createOrganization(service)
  })

  afterAll(async () => {
    await endPrograms()
    await server?.stop()
    await folder.remove()
  })

  const addContact = (number: string) =>
    succeed(service.request('POST', '/contact', { key: organization.key, body: { phone_number: number } }))
  const send = (text: string) => {
    const body = { phone_number: '+16505551001', message_type: 'text', text }
    return succeed(service.request('POST', '/send-chat', { key: organization.key, body }))
  }
  const read = async (path: string): Promise<string> =>
    JSON.stringify((await succeed(service.request('GET', path, { key: organization.key }))).body)
  const search = '/conversations?chatNumber=16505551001&query=cucumber'

  it('asks it for exports and searches, and the primary for what must be fresh', async () => {
    await addContact('+16505551001')
    await send('cucumber one')
    await vi.waitFor(async () => expect(await read(search)).toContain('cucumber one'), patience)
    await vi.waitFor(async () => expect(await read('/contacts/export')).toContain('16505551001'), patience)
    await standby.query('SELECT pg_wal_replay_pause()')
    await vi.waitFor(
      async () =>
        expect(await standby.query('SELECT pg_get_wal_replay_pause_state() AS state')).toEqual([{ state: 'paused' }]),
      patience,
    )
    await addContact('+16505551002')
    await send('cucumber two')
    expect(await read('/contacts/export')).not.toContain('16505551002')
    expect(await read(search)).not.toContain('cucumber two')
    expect(await read('/conversations?chatNumber=16505551001')).toContain('cucumber two')
    await standby.query('SELECT pg_wal_replay_resume()')
    await vi.waitFor(async () => expect(await read('/contacts/export')).toContain('16505551002'), patience)
    await vi.waitFor(async () => expect(await read(search)).toContain('cucumber two'), patience)
  })

  it('does not start on it in place of the primary', async () => {
    const env = { ...sharedSecrets, PARLEY_DATABASE_URL: standby.url, PARLEY_UPSTREAM_URL: 'sandbox' }
    await expect(startService({ ...env, PARLEY_DATA_DIR: folder.path })).rejects.toThrow(
      'The database cannot be reached: the server is a standby, which only reads',
    )
  })

  it('asks the primary while the replica is away', async () => {
    await standby.stop()
    await addContact('+16505551003')
    expect(await read('/contacts/export')).toContain('16505551003')
    expect(await read(search)).toContain('cucumber two')
    const analytics = '/broadcast-analytics?start_date=2026-01-01&end_date=2026-01-31'
    expect(await read(analytics)).toContain('"success":true')
  })
})
