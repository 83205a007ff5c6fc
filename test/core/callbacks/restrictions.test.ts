import { beforeEach, describe, expect, it } from 'vitest'
import { type BroadcastWorld, startBroadcastWorld } from '../../support/broadcasts.js'
import { envelope, postBody } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
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

const sendText = () =>
  at.world.request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number: digits, message_type: 'text', text: 'Hello' },
  })

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
    await at.world.database.pool.query(
      `INSERT INTO number_states (organization_id, phone_number_id, facts)
       VALUES ($1, $2, '{"display_phone_number": "+1 555-000-9999"}')
       ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET facts = excluded.facts`,
      [organization.id, organization.phoneNumberId],
    )
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
    await at.act(id, 'resume')
    expect(await run()).toMatchObject(paused)
    await report(REINSTATED, { owner: at.organization })
    await at.act(id, 'resume')
    expect(await run()).toMatchObject({ status: 'completed' })
  })
})
