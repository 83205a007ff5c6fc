import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { changePlatform, makePlatform, type Platform } from '../../../support/platform.js'
import { useWorld } from '../../../support/world.js'

const world = useWorld()
const CONNECTED = { number: { status: 'CONNECTED' } }
const RECIPIENT = '+5511999990000'

beforeAll(() => world.sim('POST', '/settings', { strict: true }))

/** An organization with a number that can send. */
async function connected(): Promise<{ key: string; platform: Platform }> {
  const platform = await makePlatform(world, CONNECTED)
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  const { id } = made.body.organization
  const given = { access_token: platform.token, app_secret: platform.secret }
  await world.admin('POST', `/organizations/${id}/upstream/connect`, given)
  const issued = await world.admin('POST', `/organizations/${id}/keys`, { name: 'test' })
  const { key } = issued.body.api_key
  await world.request('POST', '/contact', { key, body: { phone_number: RECIPIENT } })
  return { key, platform }
}

const send = (key: string) =>
  world.request('POST', '/send-chat', { key, body: { phone_number: RECIPIENT, message_type: 'text', text: 'Hello' } })

describe('a mistake in the setup of a number', () => {
  it.each([
    [
      'a token that has ended',
      { ...CONNECTED, token: { expires_at: 1_000_000_000 } },
      190,
      '#3-create-a-token-that-lasts',
    ],
    [
      'a permission that is missing',
      { ...CONNECTED, token: { scopes: ['whatsapp_business_management'] } },
      10,
      '#the-token',
    ],
    ['a number that is not registered', { number: { status: 'PENDING' } }, 133010, '#registration'],
    ['a recipient that is not on the list', { number: { account_mode: 'SANDBOX' } }, 131030, '#sending'],
    ['a locked account', { ...CONNECTED, account: { locked: true } }, 131031, '#sending'],
  ])('is explained by the error of a send: %s', async (_name, broken, code, section) => {
    const { key, platform } = await connected()
    expect((await send(key)).status).toBe(200)
    await changePlatform(world, platform, broken)
    const { status, body } = await send(key)
    expect([status, body.upstream_code, body.link]).toEqual([400, code, `docs/connect-a-number.md${section}`])
    expect(body.message).toContain(body.link)
    expect(body.message).not.toContain(platform.token)
  })

  it('is not blamed for a number that is not on WhatsApp', async () => {
    const { key } = await connected()
    const body = { phone_number: '+5511900000001', message_type: 'text', text: 'Hello' }
    await world.request('POST', '/contact', { key, body: { phone_number: body.phone_number } })
    const refused = await world.request('POST', '/send-chat', { key, body })
    expect([refused.body.upstream_code, refused.body.link]).toEqual([131026, undefined])
  })
})
