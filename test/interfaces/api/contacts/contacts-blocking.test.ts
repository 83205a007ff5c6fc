import { describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const DAY_MS = 86_400_000

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

let people = 0

/** A contact who has written; its digits. */
async function newWriter(): Promise<string> {
  const digits = `1650555${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  const from = { phone_number_id: organization.phoneNumberId, from: digits }
  await world.sim('POST', '/inbound', { ...from, type: 'text', text: { body: 'Hi' } })
  await world.settle()
  return digits
}

const change = (digits: string, body: object, key = organization.key) =>
  world.request('PATCH', `/contact?chat_id=${digits}`, { key, body })

/** Whom the upstream blocks for the organization's number. */
async function blockedAtUpstream(): Promise<string[]> {
  const url = `${world.simulator.upstreamUrl}/${organization.phoneNumberId}/block_users`
  // The token that a test's organization is made with.
  const authorization = `Bearer ${organization.slug.replace('shop', 'token')}`
  const answer = await fetch(url, { headers: { authorization } })
  const { data } = (await answer.json()) as { data: { wa_id: string }[] }
  return data.map(({ wa_id }) => wa_id)
}

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

  it('does not ask the upstream for who is not blocked, and for other changes', async () => {
    const digits = await newWriter()
    expect((await change(digits, { blocked: false })).body).not.toHaveProperty('upstream_block')
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
