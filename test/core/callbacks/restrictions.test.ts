import { randomInt } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/bytes/id.js'
import { insertNotice } from '../../../src/storage/callbacks/notices.js'
import { type BroadcastWorld, PLAIN, startBroadcastWorld } from '../../support/broadcasts.js'
import { envelope, postBody } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { createInstance } from '../../support/instances.js'
import { makeJobsDue } from '../../support/jobs.js'
import { inTime, passTime } from '../../support/scheduled.js'
import { expectRefusal } from '../../support/send-template.js'
import { useStarted } from '../../support/started.js'
import type { TestOrganization } from '../../support/world.js'

const at: BroadcastWorld = useStarted(startBroadcastWorld)

const DAY_S = 86_400
const TEMPLATES = 'RESTRICTED_BIZ_INITIATED_MESSAGING'
const ANSWERS = 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING'
const REINSTATED = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } }
const DISABLED = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }

let organization: TestOrganization
let digits: string
let time: number

beforeEach(async () => {
  organization = await at.world.createOrganization()
  digits = (await at.newContact({}, organization)).digits
  time = nowSeconds()
})

const nowSeconds = () => Math.floor(at.world.now().getTime() / 1_000)

/** Posts a report on the account; each is a second newer than the one before, unless it is `older`. */
async function report(value: object, { older = false, owner = organization } = {}): Promise<void> {
  time += 1
  const { entry } = envelope(owner.businessAccountId, { field: 'account_update', value }) as { entry: object[] }
  const body = { entry: entry.map((one) => ({ ...one, time: older ? time - DAY_S : time })) }
  expect((await postBody(at.world, JSON.stringify(body), owner.appSecret)).status).toBe(200)
  await at.world.drain()
}

const restriction = (restriction_type: string, expiration?: number | string) => ({
  event: 'ACCOUNT_RESTRICTION',
  restriction_info: [{ restriction_type, ...(expiration === undefined ? {} : { expiration }) }],
})

const sendTemplate = (fields: object = {}, owner = organization) =>
  at.world.request('POST', '/send-template', {
    key: owner.key,
    body: { templateName: 'hello_world', chatNumber: digits, ...fields },
  })

const sendText = (fields: object = {}) =>
  at.world.request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number: digits, message_type: 'text', text: 'Hello', ...fields },
  })

/** Connects a further number, by default of the same business account; resolves to its id. */
async function connectFurther(owner = organization, businessId = owner.businessAccountId): Promise<string> {
  const number = `30${randomInt(10 ** 9, 10 ** 10)}`
  const fields = { instanceName: number, number, businessId, accessToken: `token-${number}`, appSecret: `of-${number}` }
  await createInstance(at.world, owner, fields)
  return number
}

/** Makes the phone number of one of the organization's numbers known. */
async function show(phoneNumberId: string, display: string): Promise<void> {
  await at.world.database.pool.query(
    `INSERT INTO number_states (organization_id, phone_number_id, facts)
     VALUES ($1, $2, jsonb_build_object('display_phone_number', $3::text))
     ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET facts = excluded.facts`,
    [organization.id, phoneNumberId, display],
  )
}

describe('a restriction of the account', () => {
  it('of templates refuses templates, and nothing else', async () => {
    await report(restriction(TEMPLATES, nowSeconds() + DAY_S))
    const answer = await sendTemplate()
    const until = new Date((Math.floor(nowSeconds()) + DAY_S) * 1_000).toISOString().slice(0, 10)
    expect(expectRefusal(answer, 'Account restricted')).toContain(`until ${until}`)
    expect(answer.body).toMatchObject({ reason: TEMPLATES, until: expect.stringContaining(until) })
    expect((await sendText()).status).toBe(200)
  })

  it('of answers refuses everything but templates', async () => {
    await report(restriction(ANSWERS))
    expect(expectRefusal(await sendText(), 'Account restricted')).toContain(ANSWERS)
    expect((await sendTemplate()).body.success).toBe(true)
  })

  it('of something else refuses nothing', async () => {
    await report(restriction('RESTRICTED_ADD_PHONE_NUMBER_ACTION'))
    expect([(await sendTemplate()).body.success, (await sendText()).status]).toEqual([true, 200])
  })

  it('leaves other organizations alone', async () => {
    const other = await at.world.createOrganization()
    await at.newContact({}, other)
    await report(DISABLED, { owner: other })
    expect((await sendTemplate()).body.success).toBe(true)
  })

  it.each([
    ['a time', () => nowSeconds() + 60],
    ['a date as text', () => new Date((nowSeconds() + 60) * 1_000).toISOString().replace('.000Z', '+0000')],
  ])('ends at its end, given as %s', async (_name, end) => {
    await report(restriction(TEMPLATES, end()))
    expectRefusal(await sendTemplate(), 'Account restricted')
    at.world.advance(61_000)
    expect((await sendTemplate()).body.success).toBe(true)
  })

  it('ends with a newer report that does not name it, and not with an older one', async () => {
    await report(DISABLED)
    expectRefusal(await sendText(), 'Account restricted')
    await report(REINSTATED, { older: true })
    expectRefusal(await sendTemplate(), 'Account restricted')
    await report(REINSTATED)
    expect([(await sendTemplate()).body.success, (await sendText()).status]).toEqual([true, 200])
  })

  it('ends when the connection is saved again', async () => {
    await report({ event: 'ACCOUNT_DELETED' })
    expectRefusal(await sendText(), 'Account restricted')
    const { phoneNumberId, businessAccountId, accessToken, appSecret, verifyToken } = organization
    const saved = await at.world.admin('PUT', `/organizations/${organization.id}/upstream`, {
      phone_number_id: phoneNumberId,
      business_account_id: businessAccountId,
      access_token: accessToken,
      app_secret: appSecret,
      verify_token: verifyToken,
    })
    expect(saved.status).toBe(200)
    expect((await sendText()).status).toBe(200)
  })

  it('of another number of the account is not one of this number', async () => {
    const ofNumber = () => report({ ...restriction(ANSWERS), phone_number: '15550009999' })
    await ofNumber()
    expect((await sendText()).status).toBe(200)
    await show(organization.phoneNumberId, '+1 555-000-9999')
    await ofNumber()
    expectRefusal(await sendText(), 'Account restricted')
  })

  it('lets a scheduled message fail, and allows one for a time after its end', async () => {
    const template = await sendTemplate({ scheduled_at: inTime(at.world) })
    expect(template.status).toBe(202)
    await report(restriction(TEMPLATES, nowSeconds() + 86_400))
    expectRefusal(await sendTemplate({ scheduled_at: inTime(at.world) }), 'Account restricted')
    expect((await sendTemplate({ scheduled_at: inTime(at.world, 2 * DAY_S * 1_000) })).status).toBe(202)
    await passTime(at.world)
    const { body } = await conversation(at.world, organization, digits)
    expect(body.messages).toMatchObject([{ message_status: 'failed', error: { code: 'account_restricted' } }])
  })

  it('pauses a broadcast that begins or goes on, and says why', async () => {
    await report(restriction(TEMPLATES), { owner: at.organization })
    const { digits: number } = await at.newContact()
    const { id } = await at.create({ audience: { recipients: [{ chatNumber: `+${number}` }] } })
    const run = async () => {
      await makeJobsDue(at.world)
      await at.world.drain()
      return at.read(id)
    }
    const paused = { status: 'paused', reason: expect.stringContaining(TEMPLATES) }
    expect(await run()).toMatchObject(paused)
    const refused = await at.act(id, 'resume')
    expect([refused.status, refused.body.reason]).toEqual([400, TEMPLATES])
    expect(await at.read(id)).toMatchObject(paused)
    await report(REINSTATED, { owner: at.organization })
    await at.act(id, 'resume')
    expect(await run()).toMatchObject({ status: 'completed' })
  })
})

describe('a restriction with several numbers', () => {
  it('of the account is one of all its numbers, and of no other account', async () => {
    const further = await connectFurther()
    const foreign = await connectFurther(organization, '777000111')
    await report(DISABLED)
    expectRefusal(await sendText(), 'Account restricted')
    expect(expectRefusal(await sendText({ from: further }), 'Account restricted')).toContain('DISABLE')
    expect((await sendText({ from: foreign })).status).toBe(200)
    await report(REINSTATED)
    expect([(await sendText()).status, (await sendText({ from: further })).status]).toEqual([200, 200])
  })

  it('of one number refuses what that number would send, whoever chooses it', async () => {
    const [further, healthy] = [await connectFurther(), await connectFurther()]
    await show(further, '+1 555-000-8888')
    await report({ ...restriction(ANSWERS), phone_number: '15550008888' })
    expectRefusal(await sendText({ from: further }), 'Account restricted')
    expectRefusal(await sendText({ instance: further }), 'Account restricted')
    expect([(await sendText()).status, (await sendText({ from: healthy })).status]).toEqual([200, 200])
  })

  it('of the first number leaves the others alone', async () => {
    const further = await connectFurther()
    await show(organization.phoneNumberId, '+1 555-000-7777')
    await report({ ...restriction(ANSWERS), phone_number: '15550007777' })
    expectRefusal(await sendText(), 'Account restricted')
    expect((await sendText({ from: further })).status).toBe(200)
  })

  it('leaves the further numbers of other organizations alone', async () => {
    const further = await connectFurther()
    const other = await at.world.createOrganization()
    await connectFurther(other)
    await report(DISABLED, { owner: other })
    expect((await sendText({ from: further })).status).toBe(200)
  })

  it('pauses the broadcasts that the number would send, which are not resumed meanwhile', async () => {
    expect((await at.world.request('POST', '/templates/sync', { key: organization.key })).status).toBe(200)
    const further = await connectFurther()
    await show(further, '+1 555-000-6666')
    const ask = (method: string, path: string, body?: object) =>
      at.world.request(method, path, { key: organization.key, ...(body && { body }) })
    const create = async (fields: object) => {
      const audience = { recipients: [{ chatNumber: `+${digits}` }] }
      const { status, body } = await ask('POST', '/broadcasts', {
        name: 'News',
        templateName: PLAIN,
        audience,
        ...fields,
      })
      expect(status, JSON.stringify(body)).toBe(202)
      return body.broadcast.id as string
    }
    const run = async (id: string) => {
      await makeJobsDue(at.world)
      await at.world.drain()
      return (await ask('GET', `/broadcasts/${id}`)).body.broadcast
    }
    await report({ ...restriction(TEMPLATES), phone_number: '15550006666' })
    const restricted = await create({ from: further })
    expect(await run(restricted)).toMatchObject({ status: 'paused', reason: expect.stringContaining(TEMPLATES) })
    const refused = await ask('POST', `/broadcasts/${restricted}/resume`)
    expect(expectRefusal(refused, 'Account restricted')).toContain(TEMPLATES)
    // Nobody would get it from the restricted number.
    const healthy = await create({})
    expect(await run(healthy)).toMatchObject({ status: 'completed' })
    const contact = 'SELECT contact_id FROM contact_addresses WHERE organization_id = $1 AND address = $2'
    await at.world.database.pool.query(
      `UPDATE contacts SET wrote_to = (SELECT id FROM instances WHERE organization_id = $1 AND name = $3)
       WHERE organization_id = $1 AND id = (${contact})`,
      [organization.id, digits, further],
    )
    const byDefault = await create({})
    expect(await run(byDefault)).toMatchObject({ status: 'paused', reason: expect.stringContaining(TEMPLATES) })
    expectRefusal(await ask('POST', `/broadcasts/${byDefault}/resume`), 'Account restricted')
    await report(REINSTATED)
    for (const id of [restricted, byDefault]) {
      expect((await ask('POST', `/broadcasts/${id}/resume`)).status).toBe(200)
      expect(await run(id)).toMatchObject({ status: 'completed' })
    }
  })

  it('pauses a running broadcast of that number only', async () => {
    expect((await at.world.request('POST', '/templates/sync', { key: organization.key })).status).toBe(200)
    const further = await connectFurther()
    const ids: string[] = []
    for (const from of [further, organization.phoneNumberId]) {
      const body = { name: 'News', templateName: PLAIN, audience: { recipients: [{ chatNumber: `+${digits}` }] }, from }
      const made = await at.world.request('POST', '/broadcasts', { key: organization.key, body })
      ids.push(made.body.broadcast.id)
    }
    await at.world.database.pool.query("UPDATE broadcasts SET status = 'running' WHERE id = ANY ($1)", [ids])
    await show(further, '+1 555-000-5555')
    await insertNotice(at.world.database, organization.id, {
      ...{ id: newId(), eventId: newId(), digest: Buffer.from(ids[0] as string), instanceId: null, event: null },
      ...{
        field: 'account_update',
        kind: null,
        severity: 'critical' as const,
        title: 'Restricted',
        advice: null,
        value: null,
      },
      ...{ at: at.world.now(), until: null, onlyNumber: '15550005555', stopsBroadcasts: true },
      restrictions: [{ of: 'templates', name: TEMPLATES, until: null }],
    })
    const statuses = await at.world.database.pool.query(
      'SELECT status FROM broadcasts WHERE id = ANY ($1) ORDER BY from_number = $2 DESC',
      [ids, further],
    )
    expect(statuses.rows.map(({ status }) => status)).toEqual(['paused', 'running'])
  })
})
