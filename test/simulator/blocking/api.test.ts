import { beforeEach, describe, expect, it } from 'vitest'
import { accessToken, call, errorOf, phoneNumberId, useWorld } from '../../support/simulator.js'

const world = useWorld()

const ANA = '16505551234'
const BEN = '16505551235'
const USER_ID = 'GB.10990000000000000123'

const url = () => `${world.simulator.upstreamUrl}/${phoneNumberId}/block_users`
const bodyOf = (users: object[]) => ({ messaging_product: 'whatsapp', block_users: users })
const block = (...users: object[]) => call('POST', url(), bodyOf(users), accessToken)
const unblock = (...users: object[]) => call('DELETE', url(), bodyOf(users), accessToken)
const listed = async () => (await call('GET', url(), undefined, accessToken)).body.data

const write = (fields: object) =>
  world.control('POST', '/inbound', { phone_number_id: phoneNumberId, type: 'text', text: 'Hi', ...fields })

beforeEach(async () => {
  await world.control('POST', '/reset')
})

describe('blocking', () => {
  it('takes who wrote in the last 24 hours, by number and by user id', async () => {
    await write({ from: ANA })
    await write({ user_id: USER_ID })
    expect(await block({ user: `+${ANA}` }, { user_id: USER_ID })).toEqual({
      status: 200,
      body: {
        messaging_product: 'whatsapp',
        block_users: {
          added_users: [
            { input: `+${ANA}`, wa_id: ANA },
            { input: USER_ID, user_id: USER_ID },
          ],
        },
      },
    })
    expect(await listed()).toEqual([
      { messaging_product: 'whatsapp', wa_id: ANA },
      { messaging_product: 'whatsapp', user_id: USER_ID },
    ])
  })

  it('refuses the others, in one answer', async () => {
    await write({ from: ANA })
    await write({ from: BEN, timestamp: Math.floor(Date.now() / 1_000) - 86_401 })
    const { status, body } = await block({ user: ANA }, { user: BEN }, { user: '15550783881' })
    expect([status, errorOf(body).code]).toEqual([400, 139100])
    expect(body.block_users).toMatchObject({
      added_users: [{ input: ANA }],
      failed_users: [
        { input: BEN, errors: [{ code: 131047 }] },
        { input: '15550783881', errors: [{ code: 131021 }] },
      ],
    })
  })

  it('ends with unblocking', async () => {
    await write({ from: ANA })
    await block({ user: ANA })
    const { status, body } = await unblock({ user: ANA })
    expect([status, body.block_users]).toEqual([200, { removed_users: [{ input: ANA, wa_id: ANA }] }])
    expect(await listed()).toEqual([])
  })

  it.each<[what: string, body: object | string]>([
    ['no JSON', 'x'],
    ['no product', { block_users: [{ user: ANA }] }],
    ['nobody', bodyOf([])],
    ['1,001 people', bodyOf(Array.from({ length: 1_001 }, () => ({ user: ANA })))],
    ['no number', bodyOf([{ user: 'Ana' }])],
    ['a parent id', bodyOf([{ user_id: 'GB.ENT.123' }])],
  ])('refuses %s', async (_what, body) => {
    const { status, body: answer } = await call('POST', url(), body, accessToken)
    expect([status, errorOf(answer).code]).toEqual([400, 100])
  })

  it("needs the number's token", async () => {
    expect((await call('POST', url(), bodyOf([{ user: ANA }]), 'another')).status).toBe(401)
    expect((await call('GET', url())).status).toBe(401)
  })
})
