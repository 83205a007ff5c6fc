import { describe, expect, it } from 'vitest'
import { useStarted } from '../../../support/started.js'
import { startChatWorld, text } from './support.js'

const on = useStarted(startChatWorld)

const block = (number: string, status = 'block', instance = 'shop', key?: string) =>
  on.chat('updateBlockStatus', instance, { number, status }, key === undefined ? {} : { key })

async function isBlocked(number: string): Promise<boolean> {
  const { body } = await on.world.request('GET', `/contact?phone_number=${number}`, { key: on.organization.key })
  return body.contact.blocked
}

describe('updateBlockStatus', () => {
  it('blocks who has written, at the upstream and here, and unblocks', async () => {
    const number = on.newNumber()
    await on.receive('shop', number, text('hi'))
    const { status, body } = await block(number)
    expect([status, body]).toEqual([201, { block: 'success' }])
    expect(await isBlocked(number)).toBe(true)
    expect((await on.send('sendText', 'shop', { number, text: 'x' })).status).toBe(400)
    expect((await block(`${number}@s.whatsapp.net`, 'unblock')).status).toBe(201)
    expect(await isBlocked(number)).toBe(false)
  })

  it('changes nothing here if the upstream refuses', async () => {
    const number = on.newNumber()
    await on.sendText('shop', number, 'hi')
    const { status, body } = await block(number)
    expect([status, body.response.upstream_code]).toEqual([400, 131047])
    expect(await isBlocked(number)).toBe(false)
  })

  it('names a refused access token, and changes nothing here', async () => {
    const number = on.newNumber()
    await on.receive('shop', number, text('hi'))
    const { phoneNumberId, slug, appSecret: app_secret } = on.organization
    const callback_url = `${on.world.app.url}/hooks/upstream`
    const accept = (access_token: string) =>
      on.world.sim('PUT', `/numbers/${phoneNumberId}`, { access_token, app_secret, callback_url })
    await accept('another token')
    const { status, body } = await block(number)
    await accept(slug.replace('shop', 'token'))
    expect([status, body.response]).toEqual([
      400,
      { message: [expect.stringContaining('access token')], details: expect.any(String), upstream_code: 190 },
    ])
    expect(await isBlocked(number)).toBe(false)
  })

  it('needs a business number, a contact, and a status', async () => {
    const number = on.newNumber()
    await on.receive('shop', number, text('hi'))
    expect((await block(number, 'block', 'phone')).status).toBe(501)
    expect((await block(on.newNumber())).status).toBe(404)
    expect((await block(number, 'mute')).status).toBe(400)
    expect((await block(number, 'block', 'shop', on.other.key)).status).toBe(404)
    expect(await isBlocked(number)).toBe(false)
  })
})
