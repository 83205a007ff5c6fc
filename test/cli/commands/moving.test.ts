import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSecretBox, type SecretBox } from '../../../src/lib/crypto/secret-box.js'
import { requestIndexing } from '../../../src/storage/conversations/search.js'
import { changeFor, envelope, postBody, receive, textMessage } from '../../support/callbacks.js'
import { besideService, makeFolder, run } from '../../support/cli.js'
import { signIn } from '../../support/console.js'
import { insertMessages } from '../../support/conversations.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { furnish } from '../../support/furnished.js'
import { createInstance } from '../../support/instances.js'
import { workOffLater } from '../../support/jobs.js'
import { mediaRows } from '../../support/rows/media.js'
import { connectStorefront, postWebhook, shopOrder } from '../../support/storefront.js'
import { startWorld, type TestOrganization, useOrganization, useWorld, type World } from '../../support/world.js'

const world = useWorld()
const other = useOrganization(world)

let folder: Awaited<ReturnType<typeof makeFolder>>

beforeAll(async () => {
  folder = await makeFolder()
})

afterAll(() => folder.remove())

const envOf = ({ database, dataDir }: Pick<World, 'database' | 'dataDir'>) => ({
  ...besideService(database.connection),
  PARLEY_DATA_DIR: dataDir,
})

const org = (...args: string[]) => run(['org', ...args], envOf(world))

/** Suspends an organization, so long ago that requests from before have ended. */
async function suspend({ id, slug }: TestOrganization): Promise<void> {
  expect(await org('suspend', slug)).toMatchObject({ code: 0, err: '' })
  await world.database.pool.query(
    `UPDATE organization_rows SET suspended_at = suspended_at - interval '1 minute' WHERE id = $1`,
    [id],
  )
}

async function exported(organization: TestOrganization): Promise<string> {
  const file = join(folder.path, `${organization.slug}.tar`)
  const written = await org('export', organization.slug, file, '--replace', '--json')
  expect(written).toMatchObject({ code: 0, err: expect.stringContaining('keep it as safe') })
  return file
}

/** The number of rows of an organization by table. */
async function countRows({ pool }: TestDatabase, organizationId: string): Promise<Record<string, number>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p' ORDER BY 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await pool.query(`SELECT count(*) AS n FROM ${name} WHERE organization_id = $1`, [organizationId])
    counts[name] = rows[0].n
  }
  return counts
}

/** What names a process, a transaction or a moment of a cell. */
const OF_A_CELL = [
  ...['process_id', 'claimed_at', 'holder', 'held_until', 'instances.code', 'transaction_id', 'last_used_at'],
  ...['webhook_feeds.window_from', 'webhook_feeds.window_to', 'webhook_feeds.seq', 'contacts.searchable_seq'],
]

/** All rows of an organization by table, without what is of a cell. */
async function rowsOf({ pool }: TestDatabase, organizationId: string): Promise<Record<string, string[]>> {
  const box = createSecretBox(['master-key-of-the-tests'])
  const { rows: tables } = await pool.query<{ name: string; owner: string; columns: string[] }>(
    `SELECT c.relname AS name, owner.attname AS owner, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c
     JOIN pg_attribute owner ON owner.attrelid = c.oid
       AND owner.attname = CASE c.relname WHEN 'organization_rows' THEN 'id' ELSE 'organization_id' END
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attidentity = '' AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
     GROUP BY c.relname, owner.attname ORDER BY 1`,
  )
  const found: Record<string, string[]> = {}
  for (const { name, owner, columns } of tables) {
    const kept = columns.filter((column) => !OF_A_CELL.includes(column) && !OF_A_CELL.includes(`${name}.${column}`))
    const selected = kept.map((column) => `"${column}"`).join(', ')
    const { rows } = await pool.query(`SELECT ${selected} FROM ${name} WHERE ${owner} = $1`, [organizationId])
    const plain = rows.map((row) => (row.type === 'instance.qrcode' ? { ...row, data: {} } : row))
    const sealed = (_: string, value: unknown) => (isSealed(box, value) ? 'encrypted' : value)
    const texts = plain.map((row) => JSON.stringify(row, sealed))
    found[name] = texts.map((text) => text.replace(/"sealed":"[^"]+"/, '"sealed":"encrypted"')).sort()
  }
  return found
}

/** Whether a value is one that the box has encrypted, as JSON.stringify gives it. */
function isSealed(box: SecretBox, value: unknown): boolean {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) && box.knows(Buffer.from(data))
}

/** The deliveries of an organization's events up to a number. */
async function deliveriesOf({ pool }: TestDatabase, organizationId: string, last: number) {
  const { rows } = await pool.query<{ seq: number; count: number }>(
    `SELECT event_seq AS seq, count(*) FROM webhook_deliveries
     WHERE organization_id = $1 AND event_seq <= $2 GROUP BY 1 ORDER BY 1`,
    [organizationId, last],
  )
  return rows
}

/** The numbers of an organization's events after one. */
async function eventsAfter({ pool }: TestDatabase, organizationId: string, seq: number): Promise<number[]> {
  const { rows } = await pool.query<{ seq: number }>(
    'SELECT seq FROM events WHERE organization_id = $1 AND seq > $2 ORDER BY 1',
    [organizationId, seq],
  )
  return rows.map((row) => row.seq)
}

/** What concerns a moment does not move. */
const LEFT = [
  ...['connection_attempts', 'forwards', 'instance_commands', 'member_sessions', 'message_search', 'sign_in_links'],
]

/** More messages than are searched by reading them. */
const LONG = 1_200

/**
 * A long conversation whose words are indexed, and whose first numbers are below 0, as those of a phone's history. Resolves
 * to its contact's id.
 */
async function addLongConversation({ id, key }: TestOrganization): Promise<string> {
  const made = await world.request('POST', '/contact', { key, body: { phone_number: '5511933334444' } })
  const contactId = made.body.contact.id
  const texts = Array.from({ length: LONG }, (_, n) => `parcel ${n}`)
  await insertMessages(world, contactId, texts)
  await world.database.pool.query('UPDATE messages SET seq = seq - 2000 WHERE contact_id = $1', [contactId])
  await world.database.pool.query(
    'UPDATE contacts SET last_seq = last_seq - 2000, pruned_seq = -2000, searchable_seq = -2000 WHERE id = $1',
    [contactId],
  )
  await requestIndexing(world.database, id, contactId)
  await world.drain()
  return contactId
}

/** The words of a conversation that are indexed, and up to which number. */
async function wordsOf({ pool }: TestDatabase, contactId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    `SELECT seq, folded, (SELECT searchable_seq FROM contacts WHERE id = $1) AS until FROM message_search
     WHERE contact_id = $1 ORDER BY seq`,
    [contactId],
  )
  return rows
}

describe('a suspended organization', () => {
  it('answers 503 everywhere, works again when it is resumed, and no other one notices', async () => {
    const organization = await world.createOrganization()
    const { id, slug, key } = organization
    await connectStorefront(world, organization)
    await receive(world, organization, { messages: [textMessage('5511987654321', 'Oi')] })
    const member = await signIn(world, organization)
    const { token } = await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
    const link = { redirect_url: 'https://shop.example/' }
    const { code } = (await world.request('POST', '/shortlinks', { key, body: link })).body.shortlink
    await world.drain()
    await suspend(organization)

    const body = JSON.stringify(
      envelope(
        organization.businessAccountId,
        changeFor(organization, { messages: [textMessage('5511900000001', 'Hi')] }),
      ),
    )
    const refusals = {
      api: await world.request('GET', '/shortlinks', { key }),
      gateway: await world.request('GET', '/gateway/instance/connectionState/phone', { headers: { apikey: token } }),
      console: await member.call('GET', '/session'),
      link: await world.request('GET', `/s/${code}`),
      callback: await postBody(world, body, organization.appSecret),
      order: await postWebhook(world, slug, JSON.stringify(shopOrder())),
    }
    for (const [where, { status, headers }] of Object.entries(refusals)) {
      expect({ where, status, after: headers.get('retry-after') }).toEqual({ where, status: 503, after: '30' })
    }
    const metrics = (await world.request('GET', '/metrics')).body
    expect(metrics).toMatch(/_count\{route="\/shortlinks",method="GET",status="503",fault_of="suspension"\} \d+/)
    expect(metrics).not.toMatch(/status="503",fault_of="service"/)
    expect((await postBody(world, body, 'a wrong secret')).status).toBe(401)
    expect((await world.request('GET', '/shortlinks', { key: other.key })).status).toBe(200)
    const { suspended_at } = (await world.admin('GET', `/organizations/${id}`)).body.organization
    expect((await org('list')).out).toMatch(new RegExp(`^${id} .* ${suspended_at}$`, 'm'))
    expect((await org('list')).out).toMatch(new RegExp(`^${other.id} .* -$`, 'm'))

    expect(await org('resume', slug)).toMatchObject({ code: 0, err: '' })
    expect((await world.request('GET', '/shortlinks', { key })).status).toBe(200)
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    expect((await world.request('GET', `/s/${code}`)).status).toBe(302)
    expect(await org('resume', slug)).toMatchObject({ code: 1, err: expect.stringContaining('is not suspended') })
  })

  it('stores the changes of others of a callback that names it, and refuses the callback', async () => {
    const organization = await world.createOrganization()
    const sharing = await world.createOrganization()
    await world.admin('PUT', `/organizations/${sharing.id}/upstream`, {
      phone_number_id: sharing.phoneNumberId,
      business_account_id: sharing.businessAccountId,
      access_token: sharing.accessToken,
      app_secret: organization.appSecret,
      verify_token: sharing.verifyToken,
    })
    await suspend(organization)
    const changes = [organization, sharing].map((one) =>
      changeFor(one, { messages: [textMessage('5511900000002', `to ${one.slug}`)] }),
    )
    const body = JSON.stringify(envelope(organization.businessAccountId, ...changes))
    for (const _repeated of [1, 2]) expect((await postBody(world, body, organization.appSecret)).status).toBe(503)
    await world.drain()
    const read = await world.request('GET', '/conversations?chatNumber=5511900000002', { key: sharing.key })
    expect(read.body.messages.map(({ message }: { message: string }) => message)).toEqual([`to ${sharing.slug}`])
    expect((await countRows(world.database, organization.id)).callbacks).toBe(0)
  })

  it('runs no job, makes no delivery, and catches up afterwards', async () => {
    const organization = await world.createOrganization()
    const { id, slug } = organization
    await world.database.pool.query(
      `INSERT INTO jobs (organization_id, class, task, payload) VALUES ($1, 'sync', 'sync_orders', '{}')`,
      [id],
    )
    const jobs = async () => (await countRows(world.database, id)).jobs
    const before = await jobs()
    await suspend(organization)
    await workOffLater(world)
    expect(await jobs()).toBe(before)
    await org('resume', slug)
    await workOffLater(world)
    expect(await jobs()).toBe(0)
  })
})

describe('org export and org import', () => {
  let target: World
  let organization: TestOrganization
  let file: string

  beforeAll(async () => {
    target = await startWorld()
    // Databases of tests are copies of one, with its history of events.
    await target.database.pool.query(`UPDATE event_histories SET id = '0123456789ab'`)
    organization = await furnish(world)
    const { id } = organization
    const { rows } = await world.database.pool.query('SELECT instance_id FROM device_keys WHERE organization_id = $1', [
      id,
    ])
    const box = createSecretBox(['master-key-of-the-tests'])
    for (const [table, column, name] of [
      ['device_keys', 'value', 'device.key'],
      ['device_credentials', 'credentials', 'device.credentials'],
    ]) {
      await world.database.pool.query(`UPDATE ${table} SET ${column} = $2 WHERE organization_id = $1`, [
        id,
        box.seal('{"a\\b":"\tc"}', `${id}:${rows[0].instance_id}:${name}`),
      ])
    }
    const inJson = (name: string) => ({ sealed: box.seal('a secret', `${id}:${name}`).toString('base64') })
    await world.database.pool.query('UPDATE instances SET settings = $2 WHERE organization_id = $1', [
      id,
      { msgCall: 'a "b"\\c', wavoipToken: inJson('instance.wavoipToken'), alwaysOnline: true },
    ])
    await world.database.pool.query('UPDATE idempotency_keys SET answer = $2 WHERE organization_id = $1', [
      id,
      inJson('idempotency_keys.answer'),
    ])
    await furnish(world)
    await suspend(organization)
    file = await exported(organization)
  })

  afterAll(() => target?.close())

  it('move every row and file; keys work, and positions of the feed are refused', async () => {
    const { id, key, slug } = organization
    await org('resume', slug)
    const long = await addLongConversation(organization)
    const feed = await world.request('GET', '/events?after=latest', { key })
    const [media] = await mediaRows(world, organization)
    const [last = 0] = (await eventsAfter(world.database, id, 0)).slice(-1)
    const contact = { phone_number: '5511922223333' }
    expect((await world.request('POST', '/contact', { key, body: contact })).status).toBe(201)
    // They become deliveries at the new cell.
    const unread = await eventsAfter(world.database, id, last)
    expect(unread).not.toEqual([])
    const newest = Math.max(...unread)
    await suspend(organization)
    file = await exported(organization)
    const verified = (await run(['verify', '--organization', slug, '--json'], envOf(world))).json()
    const before = await rowsOf(world.database, id)
    const delivered = await deliveriesOf(world.database, id, newest)

    let isBusy = true
    const others = async () => {
      while (isBusy) await target.database.pool.query('SELECT pg_current_xact_id()')
    }
    const importing = run(['org', 'import', file, '--json'], envOf(target)).finally(() => {
      isBusy = false
    })
    const [imported] = await Promise.all([importing, others()])
    expect(imported.json()).toMatchObject({ organization: slug, violationCount: verified.violationCount })
    const after = await rowsOf(target.database, id)
    after.jobs = after.jobs?.filter((job) => !job.includes('"index_conversation"')) ?? []
    for (const name of LEFT) before[name] = []
    expect(after).toEqual(before)

    expect((await target.request('GET', '/shortlinks', { key })).status).toBe(503)
    expect(await run(['org', 'resume', slug], envOf(target))).toMatchObject({ code: 0 })
    await target.drain()
    const words = await wordsOf(world.database, long)
    expect(words).toHaveLength(LONG)
    expect(await wordsOf(target.database, long)).toEqual(words)
    expect(await deliveriesOf(target.database, id, newest)).toEqual([
      ...delivered,
      ...unread.map((seq) => ({ seq, count: 1 })),
    ])
    expect((await target.request('GET', '/conversations?chatNumber=5511987654321', { key })).status).toBe(200)
    expect((await target.request('POST', '/contact', { key, body: { phone_number: '5511911112222' } })).status).toBe(
      201,
    )
    const url = new URL(target.app.ctx.mediaLinks.urlOf(id, media.id, new Date(target.now().getTime() + 3_600_000)))
    expect((await target.request('GET', url.pathname + url.search)).status).toBe(200)
    const old = await target.request('GET', `/events?after=${feed.body.next_after}`, { key })
    expect(old).toMatchObject({ status: 400, body: { message: expect.stringContaining('another database') } })
    const events = await target.request('GET', '/events?limit=1000', { key })
    expect(events.body.events.at(-1)).toMatchObject({ type: 'contact.created' })
    expect((await target.request('GET', '/shortlinks', { key: other.key })).status).toBe(401)

    const again = await run(['org', 'import', file], envOf(target))
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is here already') })
  })

  it('encrypt every secret under the key of the new cell', async () => {
    const empty = await createTestDatabase()
    try {
      const env = { ...envOf({ database: empty, dataDir: folder.path }), PARLEY_SECRET: 'another-key-of-the-tests' }
      expect((await run(['org', 'import', file, '--json'], env)).json()).toMatchObject({
        organization: organization.slug,
      })
      const [from, to] = [createSecretBox(['master-key-of-the-tests']), createSecretBox(['another-key-of-the-tests'])]
      let found = 0
      for (const name of Object.keys(await countRows(empty, organization.id))) {
        const { rows } = await empty.pool.query(`SELECT * FROM ${name} WHERE organization_id = $1`, [organization.id])
        for (const value of rows.flatMap((row) => Object.values(row))) {
          if (!Buffer.isBuffer(value)) continue
          expect({ name, isOld: from.knows(value) }).toEqual({ name, isOld: false })
          if (to.knows(value)) found++
        }
      }
      expect(found).toBeGreaterThan(8)
      const { rows } = await empty.pool.query('SELECT instance_id, value FROM device_keys')
      const opened = to.open(rows[0].value, `${organization.id}:${rows[0].instance_id}:device.key`)
      expect(opened).toBe('{"a\\b":"\tc"}')
      const { rows: inJson } = await empty.pool.query(
        `SELECT settings -> 'wavoipToken' ->> 'sealed' AS sealed, 'instance.wavoipToken' AS name FROM instances
         UNION ALL SELECT answer ->> 'sealed', 'idempotency_keys.answer' FROM idempotency_keys`,
      )
      expect(inJson.length).toBeGreaterThan(1)
      for (const { sealed, name } of inJson) {
        expect(to.open(Buffer.from(sealed, 'base64'), `${organization.id}:${name}`)).toBe('a secret')
      }
      const { rows: kept } = await empty.pool.query('SELECT DISTINCT organization_id FROM messages')
      expect(kept).toEqual([{ organization_id: organization.id }])
    } finally {
      await empty.drop()
    }
  })

  it('let one of two imports at the same time succeed, with its files', async () => {
    const empty = await createTestDatabase()
    const dataDir = join(folder.path, 'twice')
    const env = envOf({ database: empty, dataDir })
    try {
      const ended = await Promise.all([1, 2].map(() => run(['org', 'import', file, '--json'], env)))
      expect(ended.filter(({ err }) => err.includes('is here already'))).toHaveLength(1)
      const filesIn = async (path: string) => (await readdir(join(path, 'media', organization.id))).sort()
      expect(await filesIn(dataDir)).toEqual(await filesIn(world.dataDir))
    } finally {
      await empty.drop()
    }
  })

  it('refuse what does not fit, and leave nothing', async () => {
    const empty = await createTestDatabase()
    const env = envOf({ database: empty, dataDir: join(folder.path, 'refusing') })
    const importing = (from: string) => run(['org', 'import', from], env)
    const nothing = async () => {
      const { rows } = await empty.pool.query('SELECT count(*) AS n FROM organization_rows')
      expect(rows[0].n).toBe(0)
      const files = await readdir(join(folder.path, 'refusing', 'media', organization.id)).catch(() => [])
      expect(files).toEqual([])
    }
    try {
      const bytes = await readFile(file)
      const cut = join(folder.path, 'cut.tar')
      await writeFile(cut, bytes.subarray(0, bytes.length - 4_096))
      expect(await importing(cut)).toMatchObject({ code: 1, err: expect.stringContaining('The archive is damaged') })
      await nothing()
      const place = bytes.lastIndexOf('5511987654321')
      const changed = join(folder.path, 'changed.tar')
      await writeFile(changed, Buffer.concat([bytes.subarray(0, place), Buffer.from('6'), bytes.subarray(place + 1)]))
      expect(await importing(changed)).toMatchObject({
        code: 1,
        err: expect.stringContaining('The archive is damaged'),
      })
      await nothing()
      await empty.pool.query(`INSERT INTO migrations (version, name, is_contract) VALUES (999, 'later', false)`)
      expect(await importing(file)).toMatchObject({
        code: 1,
        err: expect.stringContaining('upgrade the older one of the two cells'),
      })
      await empty.pool.query('DELETE FROM migrations WHERE version = 999')
      await empty.pool.query(
        `WITH one AS (
           INSERT INTO organization_rows (id, name, slug, default_country, timezone, currency, language)
           VALUES (gen_random_uuid(), 'x', 'x', 'BR', 'UTC', 'BRL', 'pt_BR') RETURNING id
         )
         INSERT INTO directory (kind, value_hash, organization_id)
         SELECT 'slug', sha256(convert_to($1, 'UTF8')), id FROM one`,
        [organization.slug],
      )
      expect(await importing(file)).toMatchObject({
        code: 1,
        err: expect.stringContaining('unique in a cell: its slug'),
      })
      expect(await countRows(empty, organization.id)).toMatchObject({ messages: 0, contacts: 0, directory: 0 })
    } finally {
      await empty.drop()
    }
  })

  it('say which cell lacks a contracting migration', async () => {
    const empty = await createTestDatabase()
    const env = envOf({ database: empty, dataDir: join(folder.path, 'contracting') })
    try {
      const { rows } = await empty.pool.query('SELECT max(version) AS last FROM migrations WHERE is_contract')
      const [{ last }] = rows
      const bytes = await readFile(file)
      const without = join(folder.path, 'without.tar')
      const place = bytes.indexOf(`,${last}`, bytes.indexOf('"migrations":'))
      bytes.fill(' ', place, place + `,${last}`.length)
      await writeFile(without, bytes)
      expect(await run(['org', 'import', without], env)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`in the old cell, which lacks ${last}, and export again`),
      })
      await empty.pool.query('DELETE FROM migrations WHERE version = $1', [last])
      expect(await run(['org', 'import', file], env)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`in this cell, which lacks ${last}, and import again`),
      })
    } finally {
      await empty.drop()
    }
  })

  it('do not wait for what a dead process has begun, and it is begun again', async () => {
    const begun = await world.createOrganization()
    await suspend(begun)
    await world.database.pool.query(
      `WITH claimed AS (
         INSERT INTO jobs (organization_id, class, task, payload, process_id, claimed_at)
         VALUES ($1, 'sync', 'sync_orders', '{}', 2147483647, now())
       )
       INSERT INTO callback_turns (organization_id, process_id, callback_ids, deaths) VALUES ($1, 2147483647, '{}', 0)`,
      [begun.id],
    )
    const empty = await createTestDatabase()
    try {
      const env = envOf({ database: empty, dataDir: join(folder.path, 'begun') })
      const written = await org('export', begun.slug, '-')
      expect(written).toMatchObject({ code: 0, err: expect.stringContaining('standard output') })
      expect(await run(['org', 'import', '-'], env, written.bytes)).toMatchObject({ code: 0 })
      const { rows } = await empty.pool.query('SELECT process_id, claimed_at FROM jobs WHERE organization_id = $1', [
        begun.id,
      ])
      expect(rows).toContainEqual({ process_id: null, claimed_at: null })
    } finally {
      await empty.drop()
    }
  })

  it('refuse an organization that works, and one that is not there', async () => {
    const working = await org('export', other.slug, join(folder.path, 'working.tar'))
    expect(working).toMatchObject({ code: 1, err: expect.stringContaining('is not suspended') })
    expect(await org('export', 'nowhere', join(folder.path, 'nowhere.tar'))).toMatchObject({ code: 1 })
    expect(await org('import', join(folder.path, 'none.tar'))).toMatchObject({ code: 2 })
  })
})

describe('org forward', () => {
  it('leads old links to the other cell, also when the organization is deleted, until it is resumed', async () => {
    const organization = await world.createOrganization()
    const { id, key, slug } = organization
    await receive(world, organization, { messages: [textMessage('5511987654321', 'Oi')] })
    const link = { redirect_url: 'https://shop.example/' }
    const { code } = (await world.request('POST', '/shortlinks', { key, body: link })).body.shortlink
    expect(await org('forward', slug, '--to', 'https://us1.example')).toMatchObject({ code: 1 })
    await suspend(organization)
    expect(await org('forward', slug, '--to', 'us1')).toMatchObject({ code: 2 })
    expect(await org('forward', slug, '--to', 'https://us1.example/')).toMatchObject({ code: 0, err: '' })
    const mediaId = '00000000-0000-7000-8000-000000000000'
    const url = new URL(world.app.ctx.mediaLinks.urlOf(id, mediaId, new Date(world.now().getTime() + 3_600_000)))
    const led = async () => {
      const answers = [
        await world.request('GET', `/s/${code}`),
        await world.request('GET', url.pathname + url.search),
        await world.request('GET', url.pathname),
      ]
      return answers.map(({ status, headers }) => [status, headers.get('location'), headers.get('cache-control')])
    }
    const unkept = 'private, no-store'
    const expected = [
      [308, `https://us1.example/s/${code}`, unkept],
      [308, `https://us1.example${url.pathname}${url.search}`, unkept],
      [403, null, null],
    ]
    expect(await led()).toEqual(expected)
    await org('resume', slug)
    expect((await led())[0]).toEqual([302, 'https://shop.example/', unkept])
    await suspend(organization)
    await org('forward', slug, '--to', 'https://us1.example')
    expect(await org('delete', slug, '--yes')).toMatchObject({ code: 0 })
    for (const _step of ['rows', 'rest']) await workOffLater(world)
    expect(await led()).toEqual(expected)
    expect((await countRows(world.database, id)).messages).toBe(0)
  })
})
