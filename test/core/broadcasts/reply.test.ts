import { beforeEach, describe, expect, it } from 'vitest'
import { readReply } from '../../../src/core/broadcasts/reply.js'
import { optOutByUpstream } from '../../../src/core/contacts/opt-outs.js'
import { countersOf, seedBroadcast, seedRecipient } from '../../support/broadcast-rows.js'
import { receive, receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { contactRow } from '../../support/rows/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const HOUR = 3_600

const world = useWorld()
let organization: TestOrganization
let number: string
let contactId: string
let people = 0

beforeEach(async () => {
  organization = await world.createOrganization()
  number = nextNumber()
  contactId = await createContact(world, organization, number)
})

function nextNumber(): string {
  return `1650556${String(1_000 + ++people)}`
}

/** A time this number of seconds after the messages of these tests are sent. */
function at(offset = 0): Date {
  return new Date(Number(seconds(offset)) * 1_000)
}

function pressed(text: string, on: string | null, fields: WireMessage = {}): WireMessage {
  return {
    from: number,
    id: wamid(),
    timestamp: seconds(60),
    type: 'button',
    button: { text, payload: text },
    ...(on === null ? {} : { context: { from: '15550001111', id: on } }),
    ...fields,
  }
}

function say(text: string, offset = 60): Promise<void> {
  return receiveMessages(world, organization, textMessage(number, text, { timestamp: seconds(offset) }))
}

async function consent(id = contactId) {
  const { allow_broadcast, opted_out_at, opt_out_source } = await contactRow(world, { id })
  return { allow_broadcast, opted_out_at, opt_out_source }
}

const WILLING = { allow_broadcast: true, opted_out_at: null, opt_out_source: null }

async function raised(): Promise<string[]> {
  const events = await eventsOf(world, organization)
  return events.map(({ type }) => type).filter((type) => /^contact\.(updated|opted_out)$/.test(type))
}

function allowByHand(allow_broadcast: boolean) {
  return world.request('PATCH', `/contact?chat_id=${number}`, { key: organization.key, body: { allow_broadcast } })
}

describe('an ordinary message', () => {
  const message = {
    id: '0192f0c0-0000-7000-8000-00000000abcd',
    eventId: '0192f0c0-0000-7000-8000-00000000abce',
    upstreamId: 'wamid.ORDINARY',
    sender_type: 'user-chat' as const,
    message_type: 'text',
    text: 'Olá, tudo bem?',
    media_type: null,
    content: null,
    extras: null,
    awaitsMedia: false,
    contextUpstreamId: 'wamid.ANSWERED',
    instanceId: null,
    network: null,
    keepsArchived: false,
    opensWindow: true,
    isToNumber: true,
    isNews: true,
    placeholder: null,
    handled_by: null,
    referral: null,
    businessGroup: null,
    created_at: at(),
    note: { k: 'callback' as const, id: '', at: 0, done: 0 },
    traceparent: null,
  }

  it('does not concern broadcasts and causes no look-up', () => {
    expect(readReply(message)).toBeNull()
    expect(readReply({ ...message, message_type: 'order', text: 'stop' })).toBeNull()
    expect(readReply({ ...message, text: 'Stop' })).toMatchObject({ optOut: { isWhole: true } })
  })
})

describe('a click on a quick-reply button', () => {
  it("counts for the broadcast of the message that it answers, under the template's spelling", async () => {
    const broadcast = await seedBroadcast(world, organization, ['Sim, quero', 'Não'])
    const later = await seedBroadcast(world, organization, ['Sim, quero'])
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await seedRecipient(world, organization, later, { contactId, acceptedAt: at(10) })
    await receiveMessages(world, organization, pressed(' sim, QUERO', upstreamId))
    expect(await countersOf(world, broadcast)).toEqual({ clicked: 1, 'button: Sim, quero': 1 })
    expect(await countersOf(world, later)).toEqual({})
  })

  it('counts a recipient once per button and once in total, however often it clicks and the callback is repeated', async () => {
    const broadcast = await seedBroadcast(world, organization, ['Yes', 'No'])
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    const first = pressed('Yes', upstreamId)
    await receiveMessages(world, organization, first, first, pressed('Yes', upstreamId), pressed('No', upstreamId))
    expect(await countersOf(world, broadcast)).toEqual({ clicked: 1, 'button: No': 1, 'button: Yes': 1 })
  })

  it('is found by its payload if its text matches no button', async () => {
    const broadcast = await seedBroadcast(world, organization, ['Yes'])
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await receiveMessages(
      world,
      organization,
      pressed('', upstreamId, { button: { text: 'Ja', payload: 'yes' } }),
      pressed('', upstreamId, { button: { text: 'Shop', payload: 'Shop' } }),
    )
    expect(await countersOf(world, broadcast)).toEqual({ clicked: 1, 'button: Yes': 1 })
  })

  it.each([null, 'wamid.NOBODYKNOWS'])(
    "without a known message (%s) belongs to the contact's latest broadcast message with that button",
    async (context) => {
      const [older, newer, newest] = [
        await seedBroadcast(world, organization, ['Yes']),
        await seedBroadcast(world, organization, ['No', 'Yes']),
        await seedBroadcast(world, organization, ['Maybe']),
      ]
      for (const broadcast of [older, newer, newest]) {
        await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
      }
      const other = await createContact(world, organization, nextNumber())
      const others = await seedBroadcast(world, organization, ['Yes'])
      await seedRecipient(world, organization, others, { contactId: other, acceptedAt: at() })
      await receiveMessages(world, organization, pressed('Yes', context))
      expect(await countersOf(world, newer)).toEqual({ clicked: 1, 'button: Yes': 1 })
      for (const broadcast of [older, newest, others]) expect(await countersOf(world, broadcast)).toEqual({})
    },
  )

  it('on a message outside broadcasts counts nowhere', async () => {
    const broadcast = await seedBroadcast(world, organization, ['Yes'])
    await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await receiveMessages(world, organization, textMessage(number, 'Hi', { id: 'wamid.PLAINONE' }))
    await receiveMessages(world, organization, pressed('Yes', 'wamid.PLAINONE'))
    expect(await countersOf(world, broadcast)).toEqual({})
  })

  it('may be an interactive reply', async () => {
    const broadcast = await seedBroadcast(world, organization, ['Yes'])
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    const interactive = { type: 'button_reply', button_reply: { id: 'b1', title: 'Yes' } }
    await receiveMessages(world, organization, pressed('', upstreamId, { type: 'interactive', interactive }))
    expect(await countersOf(world, broadcast)).toEqual({ clicked: 1, 'button: Yes': 1 })
  })

  it("counts nowhere on another contact's message, nor in another organization", async () => {
    const broadcast = await seedBroadcast(world, organization, ['Yes'])
    const other = await createContact(world, organization, nextNumber())
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId: other, acceptedAt: at() })
    await receiveMessages(world, organization, pressed('Yes', upstreamId))
    const stranger = await world.createOrganization()
    await receiveMessages(world, stranger, pressed('Yes', upstreamId, { from: number }))
    expect(await countersOf(world, broadcast)).toEqual({})
  })
})

describe('a reply with an opt-out keyword', () => {
  it.each([
    [0, true],
    [48 * HOUR, true],
    [48 * HOUR + 1, false],
    [-1, false],
  ])('counts within 48 hours of the message: %d s after it: %s', async (offset, counts) => {
    const broadcast = await seedBroadcast(world, organization)
    await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await say('please stop this', offset)
    expect(await countersOf(world, broadcast)).toEqual(counts ? { opted_out: 1 } : {})
  })

  it('counts within the same second in which the message was accepted', async () => {
    const broadcast = await seedBroadcast(world, organization)
    await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: new Date(at().getTime() + 900) })
    await say('please stop', 0)
    expect(await countersOf(world, broadcast)).toEqual({ opted_out: 1 })
  })

  it('counts once per recipient, in each broadcast whose window includes it', async () => {
    const [early, late, over] = [
      await seedBroadcast(world, organization),
      await seedBroadcast(world, organization),
      await seedBroadcast(world, organization),
    ]
    await seedRecipient(world, organization, over, { contactId, acceptedAt: at(-49 * HOUR) })
    await seedRecipient(world, organization, early, { contactId, acceptedAt: at(-10 * HOUR) })
    await seedRecipient(world, organization, late, { contactId, acceptedAt: at() })
    const other = await createContact(world, organization, nextNumber())
    await seedRecipient(world, organization, late, { contactId: other, acceptedAt: at() })
    await say('não quero, pode parar')
    await say('eu disse: parar')
    expect(await countersOf(world, early)).toEqual({ opted_out: 1 })
    expect(await countersOf(world, late)).toEqual({ opted_out: 1 })
    expect(await countersOf(world, over)).toEqual({})
    expect([await consent(), await raised()]).toEqual([WILLING, []])
  })

  it.each<[string, WireMessage]>([
    ['a button', { type: 'button', button: { text: 'Stop', payload: 'x' } }],
    ['a caption', { type: 'image', image: { caption: 'STOP', mime_type: 'image/png' } }],
  ])('may be %s', async (_kind, fields) => {
    await receiveMessages(world, organization, { from: number, id: wamid(), timestamp: seconds(), ...fields })
    expect(await consent()).toMatchObject({ allow_broadcast: false, opt_out_source: 'reply' })
  })

  it.each<[string, WireMessage]>([
    [
      'an interactive reply',
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'x', title: 'Stop' } } },
    ],
    [
      'a chosen row',
      { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: 'x', title: 'Stop' } } },
    ],
  ])('counts, but opts no contact out, if it is %s that the organization offered', async (_kind, fields) => {
    const broadcast = await seedBroadcast(world, organization)
    await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await receiveMessages(world, organization, { from: number, id: wamid(), timestamp: seconds(), ...fields })
    expect([await consent(), await countersOf(world, broadcast)]).toEqual([WILLING, { opted_out: 1 }])
  })

  it.each<[string, WireMessage]>([
    ['a system message', { type: 'system', system: { body: 'stop', type: 'other' } }],
    ['a reaction', { type: 'reaction', reaction: { message_id: 'wamid.X', emoji: 'stop' } }],
    [
      'an edit',
      { type: 'edit', edit: { original_message_id: 'wamid.X', message: { type: 'text', text: { body: 'stop' } } } },
    ],
    ['a location', { type: 'location', location: { latitude: 1, longitude: 2, name: 'Stop' } }],
  ])('is not %s', async (_kind, fields) => {
    const broadcast = await seedBroadcast(world, organization)
    await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await receiveMessages(world, organization, { from: number, id: wamid(), timestamp: seconds(), ...fields })
    expect([await consent(), await countersOf(world, broadcast)]).toEqual([WILLING, {}])
  })

  it('as the whole message opts the contact out, with or without a broadcast, and only once', async () => {
    await say('PARAR!!! 🛑', 60)
    await say('stop', 90)
    expect(await consent()).toEqual({ allow_broadcast: false, opted_out_at: at(90), opt_out_source: 'reply' })
    expect(await raised()).toEqual(['contact.opted_out', 'contact.updated'])
    const [event] = await eventsOf(world, organization, 'contact.opted_out')
    expect(event).toMatchObject({
      contact_id: contactId,
      data: { contact: { id: contactId, allow_broadcast: false, opt_out_source: 'reply' } },
    })
  })

  it('opts out a first-time writer, and a contact whose broadcasts were disabled by hand', async () => {
    await allowByHand(false)
    await say('stop')
    expect(await consent()).toMatchObject({ opted_out_at: at(60), opt_out_source: 'reply' })
    const stranger = nextNumber()
    await receiveMessages(world, organization, textMessage(stranger, 'Stop'))
    const { id } = await contactRow(world, { chat_id: stranger })
    expect(await consent(id)).toMatchObject({ allow_broadcast: false, opt_out_source: 'reply' })
  })

  it('changes no contact with the same number in another organization', async () => {
    const other = await world.createOrganization()
    const theirs = await createContact(world, other, number)
    const broadcast = await seedBroadcast(world, other)
    await seedRecipient(world, other, broadcast, { contactId: theirs, acceptedAt: at() })
    await say('stop')
    expect([await consent(theirs), await countersOf(world, broadcast)]).toEqual([WILLING, {}])
  })
})

describe('opting in again', () => {
  it('happens by the word start only, for every source of the opt-out', async () => {
    await say('stop', 60)
    await say('start now', 70)
    expect(await consent()).toMatchObject({ allow_broadcast: false })
    await say('START!', 80)
    expect(await consent()).toEqual(WILLING)
    expect(await raised()).toEqual(['contact.opted_out', 'contact.updated', 'contact.updated'])
  })

  it('does not change a ban set by hand', async () => {
    await allowByHand(false)
    await say('start')
    expect(await consent()).toEqual({ ...WILLING, allow_broadcast: false })
    expect(await raised()).toEqual(['contact.updated'])
  })

  it('happens when broadcasts are allowed by hand; disabling them is not an opt-out', async () => {
    await say('stop')
    await allowByHand(true)
    expect(await consent()).toEqual(WILLING)
    await allowByHand(false)
    expect(await consent()).toEqual({ ...WILLING, allow_broadcast: false })
  })

  it('by hand is not undone by an older stop that arrives later, but by one in the same second', async () => {
    await say('stop', 60)
    await allowByHand(true)
    await say('stop', 100)
    expect(await consent()).toEqual(WILLING)
    const thisSecond = String(Math.floor(Date.now() / 1_000))
    await receiveMessages(world, organization, textMessage(number, 'stop', { timestamp: thisSecond }))
    expect(await consent()).toMatchObject({ allow_broadcast: false, opt_out_source: 'reply' })
  })

  it('ignores a stop that arrives later if there was no opt-out to end', async () => {
    await allowByHand(false)
    await allowByHand(true)
    await say('stop')
    expect(await consent()).toMatchObject({ allow_broadcast: false, opted_out_at: at(60) })
  })

  it('is not undone by a repeated callback', async () => {
    const stop = textMessage(number, 'stop', { timestamp: seconds(60) })
    await receiveMessages(world, organization, stop)
    await allowByHand(true)
    await receiveMessages(world, organization, stop)
    expect(await consent()).toEqual(WILLING)
  })

  it('is not undone by an older message that arrives later, nor does an older start undo a stop', async () => {
    await say('start', 80)
    await say('stop', 60)
    expect(await consent()).toEqual(WILLING)
    await say('stop', 100)
    await say('start', 90)
    expect(await consent()).toMatchObject({ allow_broadcast: false, opted_out_at: at(100) })
    await say('stop', 120)
    await say('start', 110)
    expect(await consent()).toMatchObject({ allow_broadcast: false, opted_out_at: at(120) })
  })
})

describe('merged contacts', () => {
  it('keep the opt-out of either contact', async () => {
    const userId = `US.${number}99`
    await receive(world, organization, {
      messages: [{ from_user_id: userId, id: wamid(), timestamp: seconds(60), type: 'text', text: { body: 'stop' } }],
    })
    expect(await consent()).toEqual(WILLING)
    await receiveMessages(world, organization, textMessage(number, 'Hi', { from_user_id: userId }))
    expect(await consent()).toEqual({ allow_broadcast: false, opted_out_at: at(60), opt_out_source: 'reply' })
  })
})

describe('optOutByUpstream', () => {
  async function fail(messageId: string, offset = 60): Promise<void> {
    await world.database.pool.query(
      `UPDATE messages SET status = 'failed', failed_at = $2, error = '{"code": 131050, "text": "Opted out"}' WHERE id = $1`,
      [messageId, at(offset)],
    )
  }

  function optOut(messageId: string, { id } = organization): Promise<void> {
    return optOutByUpstream(world.app.ctx, id, messageId)
  }

  it('opts the contact out and counts in its broadcast, once', async () => {
    const broadcast = await seedBroadcast(world, organization)
    const { messageId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await fail(messageId)
    await optOut(messageId)
    await optOut(messageId)
    expect(await consent()).toEqual({ allow_broadcast: false, opted_out_at: at(60), opt_out_source: 'upstream' })
    expect(await countersOf(world, broadcast)).toEqual({ opted_out: 1 })
    expect(await raised()).toEqual(['contact.opted_out', 'contact.updated'])
  })

  it('repeated does not undo a later permission by hand or by the customer', async () => {
    const broadcast = await seedBroadcast(world, organization)
    const { messageId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await fail(messageId)
    await optOut(messageId)
    await allowByHand(true)
    await optOut(messageId)
    expect(await consent()).toEqual(WILLING)
  })

  it('opts out a recipient whose reply already counted, without counting it again', async () => {
    const broadcast = await seedBroadcast(world, organization)
    const { messageId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await say('please stop', 10)
    await fail(messageId)
    await optOut(messageId)
    expect(await consent()).toMatchObject({ allow_broadcast: false, opt_out_source: 'upstream' })
    expect(await countersOf(world, broadcast)).toEqual({ opted_out: 1 })
  })

  it('ignores contacts that said start after the failure, other failures, and other organizations', async () => {
    const broadcast = await seedBroadcast(world, organization)
    const { messageId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    await optOut(messageId)
    expect([await consent(), await countersOf(world, broadcast)]).toEqual([WILLING, {}])
    await fail(messageId)
    await optOut(messageId, await world.createOrganization())
    expect([await consent(), await countersOf(world, broadcast)]).toEqual([WILLING, {}])
    await say('start', 70)
    await optOut(messageId)
    expect(await consent()).toEqual(WILLING)
  })
})

describe('a button click with only an opt-out keyword', () => {
  async function pressOn(category: string, context: 'known' | 'unknown' | 'none'): Promise<void> {
    const broadcast = await seedBroadcast(world, organization, ['Cancelar'], category)
    const { upstreamId } = await seedRecipient(world, organization, broadcast, { contactId, acceptedAt: at() })
    const on = { known: upstreamId, unknown: 'wamid.NOBODYKNOWS', none: null }[context]
    await receiveMessages(world, organization, pressed('Cancelar', on))
    expect(await countersOf(world, broadcast)).toMatchObject({ 'button: Cancelar': 1, opted_out: 1 })
  }

  it.each([
    ['UTILITY', 'known'],
    ['UTILITY', 'unknown'],
    ['UTILITY', 'none'],
    ['AUTHENTICATION', 'known'],
  ] as const)('of a template of the category %s opts no contact out (its message: %s)', async (category, context) => {
    await pressOn(category, context)
    expect(await consent()).toEqual(WILLING)
    await say('Cancelar', 120)
    expect(await consent()).toMatchObject({ allow_broadcast: false })
  })

  it.each(['known', 'unknown', 'none'] as const)(
    'of a marketing template opts out (its message: %s)',
    async (context) => {
      await pressOn('MARKETING', context)
      expect(await consent()).toMatchObject({ allow_broadcast: false })
    },
  )

  it('of an unknown template opts out', async () => {
    await receiveMessages(world, organization, pressed('Cancelar', 'wamid.NOBODYKNOWS'))
    expect(await consent()).toMatchObject({ allow_broadcast: false })
  })

  it("uses the template's current category if the message belongs to no broadcast", async () => {
    const { upstreamId, messageId } = await seedRecipient(
      world,
      organization,
      await seedBroadcast(world, organization, ['Cancelar']),
      { contactId, acceptedAt: at() },
    )
    await world.database.pool.query(
      `UPDATE messages SET campaign_id = NULL, broadcast_id = NULL, recipient_n = NULL, message_type = 'template',
         content = '{"name": "appointment", "language": "pt_BR"}' WHERE id = $1`,
      [messageId],
    )
    // The first sync of a new organization's templates removes those that the upstream does not have.
    await world.drain()
    await world.database.pool.query(
      `INSERT INTO templates (organization_id, upstream_id, name, language, status, category, parameter_format, components)
       VALUES ($1, '1', 'appointment', 'pt_BR', 'APPROVED', 'UTILITY', 'POSITIONAL', '[]')`,
      [organization.id],
    )
    await receiveMessages(world, organization, pressed('Cancelar', upstreamId))
    expect(await consent()).toEqual(WILLING)
  })
})
