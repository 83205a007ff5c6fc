import { describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { createInstance } from '../../../support/instances.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const DAY_MS = 86_400_000

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

let people = 0

/** A contact who has written, to the organization's number or another one; its digits. */
async function newWriter(phoneNumberId = organization.phoneNumberId): Promise<string> {
  const digits = `1650555${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  const from = { phone_number_id: phoneNumberId, from: digits }
  await world.sim('POST', '/inbound', { ...from, type: 'text', text: { body: 'Hi' } })
  await world.settle()
  return digits
}

const change = (digits: string, body: object, key = organization.key) =>
  world.request('PATCH', `/contact?chat_id=${digits}`, { key, body })

/** The token that a test's organization is made with. */
const tokenOf = ({ slug }: TestOrganization) => slug.replace('shop', 'token')

/** Whom the upstream blocks for a number, by default the organization's. */
async function blockedAtUpstream(
  phoneNumberId = organization.phoneNumberId,
  token = tokenOf(organization),
): Promise<string[]> {
  const url = `${world.simulator.upstreamUrl}/${phoneNumberId}/block_users`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const { data } = (await answer.json()) as { data: { wa_id: string }[] }
  return data.map(({ wa_id }) => wa_id)
}

/** Makes the upstream accept another token for the organization's number from now on. */
const accept = (access_token: string) =>
  world.sim('PUT', `/numbers/${organization.phoneNumberId}`, {
    access_token,
    app_secret: organization.appSecret,
    callback_url: `${world.app.url}/hooks/upstream`,
  })

describe('PATCH /contact with blocked', () => {
  it('blocks the contact at the upstream, and unblocks it', async () => {
    const digits = await newWriter()
    const blocked = await change(digits, { blocked: true })
    expect([blocked.status, blocked.body.contact.blocked]).toEqual([200, true])
    expect(blocked.body.upstream_block).toEqual({ done: true, code: null, text: null })
    expect(await blockedAtUpstream()).toContain(digits)
    const unblocked = await change(digits, { blocked: false })
    expect(unblocked.body.upstream_block).toEqual({ done: true, code: null, text: null })
    expect(await blockedAtUpstream()).not.toContain(digits)
  })

  it('asks the upstream again to unblock who could not be unblocked there', async () => {
    const digits = await newWriter()
    await change(digits, { blocked: true })
    await accept('another token')
    const { body } = await change(digits, { blocked: false })
    expect([body.contact.blocked, body.upstream_block]).toMatchObject([false, { done: false, code: 190 }])
    await accept(tokenOf(organization))
    expect(await blockedAtUpstream()).toContain(digits)
    expect((await change(digits, { blocked: false })).body.upstream_block.done).toBe(true)
    expect(await blockedAtUpstream()).not.toContain(digits)
  })

  it('unblocks who was blocked through an instance with a number of its own, and the other way round', async () => {
    const [own, accessToken] = ['3055512345', 'token-of-the-second-number']
    await createInstance(world, organization, { number: own, accessToken, appSecret: 'secret' })
    const block = (digits: string, status: string) =>
      world.request('POST', '/gateway/chat/updateBlockStatus/shop', {
        key: organization.key,
        body: { number: digits, status },
      })
    const ana = await newWriter(own)
    expect((await block(ana, 'block')).status).toBe(201)
    expect(await blockedAtUpstream(own, accessToken)).toEqual([ana])
    expect((await change(ana, { blocked: false })).body.upstream_block.done).toBe(true)
    expect(await blockedAtUpstream(own, accessToken)).toEqual([])
    const ben = await newWriter()
    await change(ben, { blocked: true })
    expect((await block(ben, 'unblock')).status).toBe(201)
    expect(await blockedAtUpstream()).not.toContain(ben)
  })

  it('unblocks who was blocked, erased and created again', async () => {
    const digits = await newWriter()
    await change(digits, { blocked: true })
    await world.request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })
    expect(await blockedAtUpstream()).toContain(digits)
    await createContact(world, organization, `+${digits}`)
    await change(digits, { blocked: false })
    expect(await blockedAtUpstream()).not.toContain(digits)
  })

  it('does not ask the upstream for other changes', async () => {
    const digits = await newWriter()
    expect((await change(digits, { full_name: 'Ana' })).body).not.toHaveProperty('upstream_block')
  })

  it('says why the upstream refused, and blocks here', async () => {
    const digits = await newWriter()
    await world.sim('POST', '/reset', {})
    const { body } = await change(digits, { blocked: true })
    expect(body.upstream_block).toEqual({
      done: false,
      code: 131047,
      text: 'User has not messaged in the last 24 hours',
    })
    expect(body.contact.blocked).toBe(true)
  })

  it("does not find another organization's contact", async () => {
    const digits = await newWriter()
    expect((await change(digits, { blocked: true }, other.key)).status).toBe(404)
    expect(await blockedAtUpstream()).not.toContain(digits)
  })

  it('does not ask for who wrote more than a day ago, and blocks here', async () => {
    const digits = await newWriter()
    world.advance(DAY_MS + 1)
    const { body } = await change(digits, { blocked: true })
    expect(body).not.toHaveProperty('upstream_block')
    expect(body.contact.blocked).toBe(true)
    expect(await blockedAtUpstream()).not.toContain(digits)
  })
})
