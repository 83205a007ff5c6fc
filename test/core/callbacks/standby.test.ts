import { beforeEach, describe, expect, it } from 'vitest'
import { envelope, postBody, seconds } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples, sampleFor } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const messages = async (at = organization) => (await conversation(world, at, ANA)).body.messages ?? []
const shownContact = async () => (await contact(world, organization, ANA)).body.contact

async function standby(value: object): Promise<void> {
  const body = { phone_number_id: organization.phoneNumberId, field: 'standby', value: { standby: value } }
  expect((await world.sim('POST', '/callback', body)).status).toBe(200)
  await world.settle()
  await world.drain()
}

async function handOver(value: object): Promise<void> {
  const recipient = { phone_number_id: organization.phoneNumberId }
  const change = { field: 'messaging_handovers', value: { recipient, sender: { phone_number: ANA }, ...value } }
  const body = JSON.stringify(envelope(organization.businessAccountId, change))
  expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
  await world.drain()
}

describe("a conversation that the upstream's agent holds, as published", () => {
  it('is kept and marked, and leaves no unread mark', async () => {
    await receiveSamples(world, organization, 'standby-message', 'standby-echo', 'standby-status')
    expect(await messages()).toMatchObject([
      { message: 'Where is my parcel?', sender_type: 'user-chat', handled_by: 'upstream_agent' },
      {
        message: 'It comes tomorrow.',
        sender_type: 'bot-chat',
        handled_by: 'upstream_agent',
        message_status: 'delivered',
      },
    ])
    expect((await shownContact()).has_unread_messages).toBe(false)
  })

  it('shows a status that came before its message, if both came within a moment', async () => {
    const names = ['standby-message', 'standby-status', 'standby-echo']
    const bodies = names.map((name) => JSON.parse(sampleFor(organization, name)))
    const entry = bodies.flatMap((body) => body.entry)
    expect((await postBody(world, JSON.stringify({ ...bodies[0], entry }), organization.appSecret)).status).toBe(200)
    await world.drain()
    expect((await messages())[1]).toMatchObject({ message: 'It comes tomorrow.', message_status: 'delivered' })
  })

  it('raises the usual events, with the mark', async () => {
    await receiveSamples(world, organization, 'standby-message', 'standby-echo', 'standby-message', 'standby-echo')
    const { body } = await world.request('GET', '/events', { key: organization.key })
    const about = body.events.filter(({ type }: { type: string }) => type.startsWith('message.'))
    expect(
      about.map(({ type, data }: { type: string; data: { message: { handled_by?: string } } }) => [
        type,
        data.message.handled_by,
      ]),
    ).toEqual([
      ['message.received', 'upstream_agent'],
      ['message.sent', 'upstream_agent'],
    ])
  })

  it('marks reactions, of the contact and of the agent', async () => {
    await receiveSamples(world, organization, 'standby-message')
    const [{ message_id }] = await messages()
    const reaction = { timestamp: seconds(), type: 'reaction', reaction: { message_id, emoji: '👍' } }
    await standby({ messages: [{ ...reaction, from: ANA, id: 'r1' }] })
    await standby({ message_echoes: [{ id: 'r2', timestamp: seconds(), message: { ...reaction, to: ANA } }] })
    const events = await eventsOf(world, organization, 'message.reaction')
    expect(events.map(({ data: { message } }) => [message.sender_type, message.handled_by])).toEqual([
      ['user-chat', 'upstream_agent'],
      ['bot-chat', 'upstream_agent'],
    ])
  })

  it('shows a template with its values, to a person known by the user id', async () => {
    await receiveSamples(world, organization, 'standby-message', 'standby-echo-template')
    expect((await messages()).at(-1)).toMatchObject({
      message: 'Dear Ana, your parcel is late.',
      message_type: 'template',
      sender_type: 'bot-chat',
    })
  })

  it('shows buttons that the agent sent', async () => {
    await receiveSamples(world, organization, 'standby-message')
    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
    const interactive = {
      type: 'button',
      body: { text: 'Is it there?' },
      footer: { text: 'Agent' },
      action: { buttons },
    }
    await standby({
      message_echoes: [{ id: 'e1', timestamp: seconds(), message: { to: ANA, type: 'interactive', interactive } }],
    })
    expect((await messages()).at(-1)).toMatchObject({
      message: 'Is it there?',
      content: { type: 'buttons', footer: 'Agent', buttons: [{ id: 'yes', title: 'Yes' }] },
    })
  })

  it('is of one organization only', async () => {
    const other = await world.createOrganization()
    await receiveSamples(world, other, 'standby-message')
    expect(await messages()).toEqual([])
    expect(await messages(other)).toHaveLength(1)
  })
})

describe('a hand-over, as published', () => {
  it('to the organization shows in the conversation with its reason, and marks it unread', async () => {
    await receiveSamples(world, organization, 'standby-message', 'handover-passed', 'handover-passed')
    const shown = await messages()
    expect(shown).toHaveLength(2)
    expect(shown.at(-1)).toMatchObject({ message_type: 'handover', sender_type: 'system' })
    expect(shown.at(-1).message).toContain('asks for a person')
    expect(shown.at(-1).message).toContain('late parcel')
    expect(shown.at(-1).content).toEqual({
      type: 'handover',
      holder: 'us',
      previous_role: 'ai_agent',
      new_role: 'escalation',
      note: 'asks for a person',
      summary: 'The customer asked twice about a late parcel.',
    })
    expect((await shownContact()).has_unread_messages).toBe(true)
    const [event, ...others] = await eventsOf(world, organization, 'conversation.handed_over')
    expect(others).toEqual([])
    expect(event?.data.message.content).toEqual({
      holder: 'us',
      previous_role: 'ai_agent',
      new_role: 'escalation',
      note: 'asks for a person',
      summary: 'The customer asked twice about a late parcel.',
    })
  })

  it.each([undefined, 1_795_000_510_000])('with the time %s is recorded once, and so is a later one', async (time) => {
    await receiveSamples(world, organization, 'standby-message')
    for (const metadata of ['first', 'first', 'second']) {
      await handOver({ timestamp: time, type: 'control_passed', control_passed: { metadata } })
    }
    expect((await messages()).slice(1).map(({ content }: { content: { note: string } }) => content.note)).toEqual([
      'first',
      'second',
    ])
  })

  it('that names nobody is acknowledged, and shows nowhere', async () => {
    await receiveSamples(world, organization, 'standby-message', 'handover-taken')
    expect(await messages()).toHaveLength(1)
    expect(await eventsOf(world, organization, 'conversation.handed_over')).toEqual([])
  })
})
