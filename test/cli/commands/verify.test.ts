import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/bytes/id.js'
import { startBroadcastWorld } from '../../support/broadcasts.js'
import { besideService, type Result, run } from '../../support/cli.js'
import { useStarted } from '../../support/started.js'

const CUSTOMER = '16505559001'

const broadcasts = useStarted(startBroadcastWorld)
let dataDir: string
let env: Record<string, string>
let image: string

beforeAll(async () => {
  const { world, organization } = broadcasts
  dataDir = world.dataDir
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: dataDir }
  for (const broadcast of [1, 2]) {
    await broadcasts.send({
      audience: { recipients: [{ chatNumber: broadcasts.newNumber() }] },
      name: `News ${broadcast}`,
    })
  }
  const inbound = { phone_number_id: organization.phoneNumberId, from: CUSTOMER }
  await world.sim('POST', '/inbound', { ...inbound, type: 'text', text: { body: 'Hi' } })
  await world.sim('POST', '/inbound', { ...inbound, type: 'image', image: {} })
  await world.settle()
  const sent = await query('SELECT upstream_id FROM messages WHERE organization_id = $1 AND broadcast_id IS NOT NULL')
  for (const { upstream_id } of sent.rows) await broadcasts.report(upstream_id, 'delivered')
  await world.drain()
  const { rows } = await query('SELECT media_id FROM messages WHERE organization_id = $1 AND media_id IS NOT NULL')
  image = rows[0].media_id
})

/** Every test breaks something; the database's rows are put back from copies. */
const TABLES = [
  'contacts',
  'messages',
  'events',
  'contact_counts',
  'line_counts',
  'campaign_deltas',
  'campaign_counts',
  'media',
] as const

beforeEach(async () => {
  for (const table of TABLES) await broadcasts.world.database.pool.query(`CREATE TABLE kept_${table} AS TABLE ${table}`)
})

afterEach(async () => {
  const { pool } = broadcasts.world.database
  const client = await pool.connect()
  await client.query('BEGIN; SET LOCAL session_replication_role = replica')
  for (const table of TABLES) {
    const identity = ['contact_counts', 'campaign_deltas'].includes(table) ? 'OVERRIDING SYSTEM VALUE ' : ''
    await client.query(
      `DELETE FROM ${table}; INSERT INTO ${table} ${identity}TABLE kept_${table}; DROP TABLE kept_${table}`,
    )
  }
  await client.query('COMMIT')
  client.release()
})

function query(text: string, ...values: unknown[]) {
  return broadcasts.world.database.pool.query(text, [broadcasts.organization.id, ...values])
}

/** Runs a statement past foreign keys, as a fault would. */
async function tamper(text: string): Promise<void> {
  const client = await broadcasts.world.database.pool.connect()
  try {
    await client.query('BEGIN; SET LOCAL session_replication_role = replica')
    await client.query(text)
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

const verify = (...args: string[]): Promise<Result> => run(['verify', ...args], env)

describe('parley verify', () => {
  it('finds nothing wrong after ordinary work, and tells how much it read', async () => {
    const { code, out, err } = await verify()
    expect({ code, err, out }).toMatchObject({ code: 0, err: '' })
    expect(out).toMatch(/^\d+ rows verified in [\d.]+ s \(\d+ rows\/s\): everything agrees\n$/)
    const json = (await verify('--json', '--organization', broadcasts.organization.slug)).json()
    expect(json).toMatchObject({ violationCount: 0, violations: [], notes: [] })
    expect(json.rows).toBeGreaterThan(10)
  })

  it.each<[what: string, fault: string, kind: string, row: RegExp]>([
    ['a number is missing', 'DELETE FROM messages WHERE seq = 1', 'conversation_numbers', /^contacts /],
    [
      'a counter is behind',
      'UPDATE contacts SET last_seq = last_seq - 1 WHERE last_seq > 1',
      'conversation_numbers',
      /^contacts /,
    ],
    ['a contact is lost', 'DELETE FROM contacts WHERE last_seq = 2', 'missing_row', /^messages /],
    [
      'the number of contacts is wrong',
      'UPDATE contact_counts SET change = change + 1',
      'contact_count',
      /^contact_counts/,
    ],
    [
      'a result is counted twice',
      "UPDATE campaign_deltas SET change = 2 WHERE counter = 'sent'",
      'campaign_count',
      /^broadcasts .* sent$/,
    ],
    ["a file's row is missing", 'DELETE FROM media', 'missing_row', /^messages /],
    [
      'a message of an event is missing',
      "DELETE FROM messages WHERE message_type = 'image'",
      'missing_row',
      /^events /,
    ],
    [
      'an event lies before its cause',
      "UPDATE events SET seq = seq + 1000 WHERE type = 'message.sent'; SELECT setval('events_seq', 5000)",
      'event_order',
      /^events /,
    ],
    [
      'a number of events was not given',
      "UPDATE events SET seq = seq + 100000 WHERE type = 'message.received'",
      'event_order',
      /^events /,
    ],
    [
      'an organization is lost',
      `INSERT INTO campaign_counts VALUES ('${newId()}', '${newId()}', 'total', '', 1)`,
      'no_organization',
      /^campaign_counts/,
    ],
  ])('says that %s', async (_, fault, kind, row) => {
    await tamper(fault)
    const { code, out } = await verify('--json')
    const { violations } = JSON.parse(out)
    expect(violations).toContainEqual(
      expect.objectContaining({ kind, row: expect.stringMatching(row), remedy: expect.stringMatching(/\w/) }),
    )
    expect(code).toBe(1)
    const printed = await verify()
    expect(printed.code).toBe(1)
    expect(printed.out).toContain(
      `${broadcasts.organization.slug}  ${kind}`.slice(kind === 'no_organization' ? -kind.length : 0),
    )
    expect(printed.err).toMatch(/^parley: \d+ violations were found\n$/)
  })

  it('says that a file is cut or missing, and notes a file without a row', async () => {
    const path = join(dataDir, 'media', broadcasts.organization.id, image)
    await truncate(path, 1)
    expect((await verify()).out).toMatch(/ file_size {2}media .*: expected \d+ bytes under .*, found 1 bytes/)
    await rm(path)
    const { code, out } = await verify('--json')
    expect(code).toBe(1)
    expect(JSON.parse(out).violations).toMatchObject([
      { kind: 'missing_file', row: `media ${image}`, found: 'no file' },
    ])
    await tamper('UPDATE messages SET media_id = NULL')
    expect((await verify()).code).toBe(0)
  })

  it('names organizations by id or slug, and refuses others', async () => {
    expect((await verify('--organization', broadcasts.other.id)).code).toBe(0)
    const { code, err } = await verify('--organization', 'nobody')
    expect(code).toBe(1)
    expect(err).toContain('no organization with the id or slug "nobody"')
  })
})
