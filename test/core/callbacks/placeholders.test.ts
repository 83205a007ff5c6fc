import { beforeEach, describe, expect, it } from 'vitest'
import { post, receiveMessages, seconds, textMessage, type WireMessage } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const messages = async (at = organization) => (await conversation(world, at, ANA)).body.messages ?? []
const texts = async () => (await messages()).map(({ message }: { message: string }) => message)

/** The types of the events about messages, with the text of each. */
async function told(): Promise<string[]> {
  const events = await eventsOf(world, organization)
  return events.flatMap(({ type, data }) => (type.startsWith('message.') ? [`${type} ${data.message.text}`] : []))
}

function unavailable(id: string, code = 131_060): WireMessage {
  const { text: _text, ...common } = textMessage(ANA, '', { id, type: 'unsupported' })
  return { ...common, errors: [{ code, title: 'This message is unavailable.' }] }
}

describe('a message that is not available yet', () => {
  it('is replaced by the real one under the same id, in its place, as published', async () => {
    await receiveSamples(world, organization, 'unsupported-unavailable')
    const [before] = await messages()
    expect(before).toMatchObject({ message: '[unsupported]', message_type: 'unsupported' })
    expect((await contact(world, organization, ANA)).body.contact.has_unread_messages).toBe(true)
    expect(await told()).toEqual([])
    await receiveSamples(world, organization, 'unsupported-unavailable-then-text')
    const [after, ...others] = await messages()
    expect(others).toEqual([])
    const content = { type: 'text', referral: expect.objectContaining({ headline: 'Mugs for everybody' }) }
    expect(after).toEqual({ ...before, message: 'I saw your ad', message_type: 'text', content })
    expect(await told()).toEqual(['message.received I saw your ad'])
    const referral = { message_id: after.id, headline: 'Mugs for everybody' }
    const { body } = await contact(world, organization, ANA)
    expect(body.contact.referral).toMatchObject({ first: referral, last: referral })
    await workOffLater(world)
    expect(await told()).toEqual(['message.received I saw your ad'])
  })

  it('is found by the words of the real one', async () => {
    await receiveSamples(world, organization, 'unsupported-unavailable', 'unsupported-unavailable-then-text')
    const found = await world.request('GET', `/conversations?chatNumber=${ANA}&query=saw`, { key: organization.key })
    expect(found.body.messages).toHaveLength(1)
  })

  it('changes nothing if it comes after the real one, or again', async () => {
    await receiveMessages(world, organization, textMessage(ANA, 'real', { id: 'w1' }), unavailable('w1'))
    await receiveMessages(world, organization, unavailable('w2'), unavailable('w2'))
    expect(await texts()).toEqual(['real', '[unsupported]'])
  })

  it('is told after 10 minutes if the real one does not come, which then counts as an edit', async () => {
    await receiveMessages(world, organization, unavailable('w1'))
    await workOffLater(world)
    expect(await told()).toEqual(['message.received [unsupported]'])
    await receiveMessages(world, organization, textMessage(ANA, 'late', { id: 'w1' }))
    expect(await told()).toEqual(['message.received [unsupported]', 'message.edited late'])
    expect(await texts()).toEqual(['late'])
  })

  it('is told as sent if the team wrote it on the phone of the number', async () => {
    const { from: _from, ...typed } = unavailable('w1')
    const value = { message_echoes: [{ ...typed, to: ANA }] }
    const body = { phone_number_id: organization.phoneNumberId, field: 'smb_message_echoes', value }
    expect((await world.sim('POST', '/callback', body)).status).toBe(200)
    await world.settle()
    await workOffLater(world)
    expect(await told()).toEqual(['message.sent [unsupported]'])
  })

  it('is replaced within one batch of callbacks, in the order of their arrival', async () => {
    await post(world, organization, { messages: [unavailable('w1')] })
    await post(world, organization, { messages: [textMessage(ANA, 'real', { id: 'w1' })] })
    await post(world, organization, { messages: [textMessage(ANA, 'real', { id: 'w1' })] })
    await world.drain()
    expect(await texts()).toEqual(['real'])
    expect(await told()).toEqual(['message.received real'])
  })

  it('lets a reply have its effect when it comes', async () => {
    await receiveMessages(world, organization, unavailable('w1'), textMessage(ANA, 'STOP', { id: 'w1' }))
    expect((await contact(world, organization, ANA)).body.contact.allow_broadcast).toBe(false)
  })

  it('gets its file, and is told with it', async () => {
    const person = { phone_number_id: organization.phoneNumberId, from: ANA }
    await receiveMessages(world, organization, unavailable('w1'))
    await world.sim('POST', '/inbound', { ...person, id: 'w1', type: 'image', image: { caption: 'Look' } })
    await world.settle()
    const [message] = await messages()
    expect(message).toMatchObject({ message: 'Look', message_type: 'image', media_url: expect.any(String) })
    expect(await told()).toEqual(['message.received Look'])
  })

  it('stays deleted if its author deleted it meanwhile', async () => {
    const revoke = { original_message_id: 'w1' }
    const gone = { from: ANA, id: 'w2', timestamp: seconds(1), type: 'revoke', revoke }
    await receiveMessages(world, organization, unavailable('w1'), gone, textMessage(ANA, 'a secret', { id: 'w1' }))
    expect(await texts()).toEqual([''])
  })

  it('keeps the text of an edit that came before the real one', async () => {
    const changed = { original_message_id: 'w1', message: { type: 'text', text: { body: 'changed' } } }
    const edit = { from: ANA, id: 'w2', timestamp: seconds(1), type: 'edit', edit: changed }
    const real = { ...textMessage(ANA, 'first', { id: 'w1' }), context: { forwarded: true } }
    await receiveMessages(world, organization, unavailable('w1'), edit, real)
    expect(await messages()).toMatchObject([
      { message: 'changed', content: { type: 'text', forwarded: 'once', edited_at: expect.any(String) } },
    ])
  })

  it("is not replaced by another organization's message of the same id", async () => {
    const other = await world.createOrganization()
    await receiveMessages(world, organization, unavailable('w1'))
    await receiveMessages(world, other, textMessage(ANA, 'real', { id: 'w1' }))
    expect(await texts()).toEqual(['[unsupported]'])
    expect(await messages(other)).toMatchObject([{ message: 'real' }])
  })
})

describe('a message that the upstream cannot read', () => {
  it('is told at once; a real one under the same id counts as an edit', async () => {
    await receiveMessages(world, organization, unavailable('w1', 131_051))
    await receiveMessages(world, organization, textMessage(ANA, 'readable', { id: 'w1' }))
    expect(await told()).toEqual(['message.received [unsupported]', 'message.edited readable'])
  })
})
