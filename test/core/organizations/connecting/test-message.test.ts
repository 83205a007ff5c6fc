import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { listCallbacksWith } from '../../../../src/storage/callbacks/callbacks.js'
import { makePlatform, type PlatformFields } from '../../../support/platform.js'
import { useWorld } from '../../../support/world.js'

const world = useWorld()
const TO = '5511999990000'
const TEST_NUMBER = { status: 'CONNECTED', account_mode: 'SANDBOX', recipients: [TO] }

beforeAll(() => world.sim('POST', '/settings', { strict: true }))

async function newOrganization(): Promise<string> {
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  return made.body.organization.id
}

/** Connects a number of such a platform, which is to send a message to `send_to`. */
async function connect(fields: PlatformFields, send_to: string) {
  const { token, secret, number } = await makePlatform(world, fields)
  const id = await newOrganization()
  const given = { access_token: token, app_secret: secret, send_to }
  const { body, status } = await world.admin('POST', `/organizations/${id}/upstream/connect`, given)
  const sent = body.steps?.find(({ step }: { step: string }) => step === 'sent')
  return { id, number, status, body, sent }
}

// biome-ignore lint/suspicious/noExplicitAny: a message as the simulator records it
const sentBy = async (number: string): Promise<any[]> =>
  (await world.sim('GET', '/messages')).body.messages.filter(
    (message: { phone_number_id: string }) => message.phone_number_id === number,
  )

describe('a test message', () => {
  it('is sent if somebody asks for it, and its delivery shows that callbacks come', async () => {
    const { id, number, body, sent } = await connect({ number: TEST_NUMBER }, '+55 (11) 99999-0000')
    expect([body.connected, sent.reason, sent.values]).toEqual([true, 'sent_delivered', { to: TO }])
    expect(body.steps.at(-1).reason).toBe('received_lately')
    expect((await sentBy(number)).map(({ type }) => type)).toEqual(['template'])
    await world.admin('POST', `/organizations/${id}/upstream/connect`, {})
    expect(await sentBy(number)).toHaveLength(1)
  })

  it('is a text where the number has no template of that name', async () => {
    const { number, sent } = await connect({ number: { status: 'CONNECTED' } }, TO)
    expect(sent.reason).toBe('sent_delivered')
    expect((await sentBy(number)).map(({ type }) => type)).toEqual(['text'])
  })

  it('is not sent while something before is not done', async () => {
    const { number, body, sent } = await connect({}, TO)
    expect([body.connected, sent.reason]).toEqual([false, 'sent_not_yet'])
    expect(await sentBy(number)).toEqual([])
  })

  it('names the cure of a refusal and of a failure', async () => {
    const foreign = await connect({ number: TEST_NUMBER }, '5511999990001')
    expect([foreign.body.connected, foreign.sent.reason, foreign.sent.upstream_code]).toEqual([
      ...[false, 'sent_not_listed', 131030],
    ])
    const closed = '5511999990047'
    await world.sim('PUT', `/recipients/${closed}`, { code: 131047, by: 'status' })
    const late = await connect({ number: { status: 'CONNECTED' } }, closed)
    expect([late.sent.reason, late.sent.upstream_code]).toEqual(['sent_too_late', 131047])
    expect(late.sent.remedy).toContain('Write "hello"')
  })

  it('is refused to what is no phone number, before anything is stored', async () => {
    const { status, body, id } = await connect({ number: TEST_NUMBER }, 'me')
    expect([status, body.message]).toEqual([400, expect.stringContaining('send_to "me" is not a phone number')])
    const { body: shown } = await world.admin('GET', `/organizations/${id}/upstream/health`)
    expect(shown.numbers).toEqual([])
  })

  it("is not seen in another organization's callbacks", async () => {
    const { id } = await connect({ number: TEST_NUMBER }, TO)
    const other = await newOrganization()
    const count = async (organizationId: string) =>
      (await listCallbacksWith(world.database, organizationId, 'biz_opaque_callback_data')).length
    expect([(await count(id)) > 0, await count(other)]).toEqual([true, 0])
  })
})
