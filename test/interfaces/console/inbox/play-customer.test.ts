import { beforeAll, describe, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember
let contactId: string

const DIGITS = '16505550001'

beforeAll(async () => {
  agent = await signIn(world, organization, { role: 'agent' })
  contactId = await createContact(world, organization, `+${DIGITS}`, { full_name: 'Ana' })
})

const play = (text: unknown, by = agent, id = contactId) => by.call('POST', `/contacts/${id}/play`, { body: { text } })

describe('POST /console/api/contacts/{contactId}/play', () => {
  it('makes the simulator write as the contact', async () => {
    expect((await play('Is it still there?')).body).toEqual({ success: true })
    await world.settle()
    const [message] = (await conversation(world, organization, DIGITS)).body.messages
    expect(message).toMatchObject({ message: 'Is it still there?', sender_type: 'user-chat' })
  })

  it('writes to the phone of a SANDBOX instance if the contact wrote there last', async () => {
    const owner = await signIn(world, organization)
    await owner.call('POST', '/instances', { body: { name: 'shop', kind: 'sandbox' } })
    await owner.call('POST', '/instances/shop/connect', { body: {} })
    await owner.call('POST', '/instances/shop/scan', { body: { number: '16505559999' } })
    await world.settle()
    const from = '16505550002'
    const inbound = { organization_id: organization.id, instance: 'shop', from, name: 'Bia', type: 'text', text: 'Hi' }
    expect((await world.sim('POST', '/inbound', inbound)).status).toBe(200)
    await world.settle()
    const { contact } = (await world.request('GET', `/contact?chat_id=${from}`, { key: organization.key })).body
    expect((await play('And here?', agent, contact.id)).status).toBe(200)
    await world.settle()
    const { messages } = (await conversation(world, organization, from)).body
    expect(messages.map(({ message }: { message: string }) => message)).toEqual(['Hi', 'And here?'])
  })

  it('is for members who may send, and for contacts of their organization', async () => {
    const analyst = await signIn(world, organization, { role: 'analyst' })
    expect((await play('Hi', analyst)).status).toBe(403)
    const stranger = await signIn(world, await world.createOrganization(), { role: 'agent' })
    expect((await play('Hi', stranger)).status).toBe(404)
    expect((await play('')).status).toBe(400)
    expect((await play('x'.repeat(4_097))).status).toBe(400)
  })

  it('does not exist without a simulator', async () => {
    const ctx = world.app.ctx
    const { sandboxes } = ctx
    ctx.sandboxes = null
    expect(await play('Hi')).toMatchObject({ status: 501, body: { error: 'Not supported' } })
    ctx.sandboxes = sandboxes
  })
})
