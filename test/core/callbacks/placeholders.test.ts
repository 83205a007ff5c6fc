import { beforeEach, describe, expect, it } from 'vitest'
import { post, receive, receiveMessages, seconds, textMessage, type WireMessage } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { hold, untilWaiting } from '../../support/locks.js'
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

/** Its author deletes the message w1. */
function revoked(): WireMessage {
  return { from: ANA, id: 'w2', timestamp: seconds(1), type: 'revoke', revoke: { original_message_id: 'w1' } }
}

describe('a message whose file is awaited', () => {
  it.each([
    ['edit', ['message.received changed']],
    ['revoke', ['message.received ', 'message.deleted ']],
  ])('is told once, with what an %s changed before', async (type, events) => {
    const changed = { original_message_id: 'w1', message: { type: 'image', image: { caption: 'changed' } } }
    const image = { from: ANA, id: 'w1', timestamp: seconds(), type: 'image', image: { id: 'none', caption: 'Look' } }
    const edit = { from: ANA, id: 'w2', timestamp: seconds(1), type: 'edit', edit: changed }
    await receive(world, organization, { messages: [image, type === 'edit' ? edit : revoked()] })
    await workOffLater(world)
    expect(await told()).toEqual(events)
  })
})

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
    const { rows } = await world.database.pool.query(
      `SELECT extract(epoch FROM run_at - requested_at)::int AS seconds FROM jobs
       WHERE organization_id = $1 AND task = 'tell_placeholder'`,
      [organization.id],
    )
    expect(rows).toEqual([{ seconds: 600 }])
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

  it('is told again when its file has come, if it was told before', async () => {
    const person = { phone_number_id: organization.phoneNumberId, from: ANA }
    await receiveMessages(world, organization, unavailable('w1'))
    await workOffLater(world)
    await world.sim('POST', '/inbound', { ...person, id: 'w1', type: 'image', image: { caption: 'Look' } })
    await world.settle()
    await world.drain()
    expect(await told()).toEqual(['message.received [unsupported]', 'message.edited Look'])
    const { body } = await world.request('GET', '/events?types=message.edited', { key: organization.key })
    expect(body.events[0].data).toMatchObject({
      message: { media_url: expect.stringMatching(/^http/) },
      previous_message: '[unsupported]',
    })
  })

  it('stays deleted if its author deleted it meanwhile, and is never told', async () => {
    await receiveMessages(world, organization, unavailable('w1'), revoked(), textMessage(ANA, 'a secret', { id: 'w1' }))
    expect(await texts()).toEqual([''])
    await workOffLater(world)
    expect(await told()).toEqual([])
  })

  it.each([
    ['told', true, ['message.received [unsupported]', 'message.deleted ', 'message.reaction 👍']],
    ['not told yet', false, ['message.reaction 👍']],
  ])('gives way to a reaction with its id, if it was %s', async (_name, isTold, events) => {
    await receiveMessages(world, organization, textMessage(ANA, 'first', { id: 'w0' }), unavailable('w1'))
    if (isTold) await workOffLater(world)
    const { text: _text, ...common } = textMessage(ANA, '', { id: 'w1', type: 'reaction' })
    const reaction = { ...common, reaction: { message_id: 'w0', emoji: '👍' } }
    await receiveMessages(world, organization, reaction, reaction)
    expect(await texts()).toEqual(['first', ''])
    await workOffLater(world)
    expect((await told()).slice(1)).toEqual(events)
  })

  it('names its sender, whose user id then leads to the same contact', async () => {
    await receiveMessages(world, organization, unavailable('w1'))
    const contacts = [{ profile: { name: 'Ana' }, wa_id: ANA, user_id: 'US.777' }]
    await receive(world, organization, { contacts, messages: [textMessage(ANA, 'real', { id: 'w1' })] })
    expect((await contact(world, organization, ANA)).body.contact).toMatchObject({
      full_name: 'Ana',
      user_id: 'US.777',
    })
    const { from: _from, ...rest } = textMessage('', 'without a number')
    await receiveMessages(world, organization, { ...rest, from_user_id: 'US.777' })
    expect(await texts()).toEqual(['real', 'without a number'])
  })

  it('is replaced within one batch, also if the real one names its sender otherwise', async () => {
    const contacts = [{ profile: { name: 'Ana' }, wa_id: ANA, user_id: 'US.777' }]
    await receive(world, organization, { contacts, messages: [textMessage(ANA, 'first')] })
    const { from: _from, ...real } = textMessage('', 'real', { id: 'w1' })
    await receive(world, organization, { messages: [unavailable('w1'), { ...real, from_user_id: 'US.777' }] })
    expect(await texts()).toEqual(['first', 'real'])
  })

  it('waits for its contact before it is locked itself', async () => {
    await receiveMessages(world, organization, unavailable('w1'))
    const held = await hold(world.database, 'SELECT FROM contacts WHERE organization_id = $1 FOR NO KEY UPDATE', [
      organization.id,
    ])
    await post(world, organization, { messages: [textMessage(ANA, 'STOP', { id: 'w1' })] })
    const drained = world.drain()
    await untilWaiting(world.database, 1)
    const free = 'SELECT FROM messages WHERE organization_id = $1 FOR NO KEY UPDATE SKIP LOCKED'
    const { rowCount } = await world.database.pool.query(free, [organization.id])
    await held.release()
    await drained
    expect(rowCount).toBe(1)
    expect(await texts()).toEqual(['STOP'])
  })

  it('keeps the text of an edit that came before the real one', async () => {
    const changed = { original_message_id: 'w1', message: { type: 'text', text: { body: 'changed' } } }
    const edit = { from: ANA, id: 'w2', timestamp: seconds(1), type: 'edit', edit: changed }
    const real = { ...textMessage(ANA, 'first', { id: 'w1' }), context: { forwarded: true } }
    await receiveMessages(world, organization, unavailable('w1'), edit, real)
    expect(await told()).toEqual(['message.received changed'])
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
