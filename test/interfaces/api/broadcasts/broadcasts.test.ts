import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../../src/model/contacts/phone-number.js'
import { MINUTE, numbersOf, OFFER, OFFER_PARAMETERS, startBroadcastWorld } from '../../../support/broadcasts.js'
import { receive, receiveMessages, textMessage } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)

const arrivedFor = async (...digits: string[]) => (await at.arrived()).filter(({ to }) => digits.includes(to))
const contactOf = async (chatId: string) => (await at.ask('GET', `/contact?chat_id=${chatId}`)).body.contact

describe('POST /broadcasts', () => {
  it('returns the broadcast, sends it, and shows when it started and ended', async () => {
    const [one, two] = [await at.newContact(), await at.newContact()]
    const made = await at.create({ name: 'Natal', audience: { contactIds: [one.id, two.id] } })
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Natal',
      templateName: 'hello_world',
      language: 'en_US',
      status: 'running',
      from: null,
      totalRecipients: 2,
      skippedRecipients: 0,
      scheduled_at: null,
      started_at: made.created_at,
      completed_at: null,
      created_at: expect.any(String),
      reason: null,
    })
    await at.world.drain()
    expect(await at.read(made.id)).toEqual({ ...made, status: 'completed', completed_at: expect.any(String) })
    expect(numbersOf(await arrivedFor(one.digits, two.digits))).toEqual([one.digits, two.digits])

    const about = (await eventsOf(at.world, at.organization)).filter(({ data }) => data.broadcast?.id === made.id)
    expect(about.map(({ type, data }) => [type, data.broadcast.status, data.broadcast.counters])).toEqual([
      ['broadcast.started', 'running', { total: 2 }],
      ['broadcast.completed', 'completed', { total: 2, recorded: 2, sent: 2 }],
    ])
  })

  it('sends each recipient its own words, and records them in the conversation', async () => {
    const { digits } = await at.newContact({ full_name: 'Ana Souza' })
    const { id } = await at.send({
      templateName: OFFER,
      ...OFFER_PARAMETERS,
      audience: { recipients: [{ chatNumber: digits }] },
    })
    const [payload] = await arrivedFor(digits)
    expect(payload.template).toMatchObject({
      name: OFFER,
      language: { code: 'pt_BR' },
      components: [
        {
          type: 'body',
          parameters: [
            { parameter_name: 'name', text: 'Ana' },
            { parameter_name: 'discount', text: '20%' },
          ],
        },
        { type: 'button', sub_type: 'url', index: '2', parameters: [{ text: 'abc' }] },
      ],
    })
    const { body } = await at.world.request('GET', `/conversations?chatNumber=${digits}`, { key: at.organization.key })
    expect(body.messages).toMatchObject([
      {
        message: expect.stringContaining('Oi, Ana! Esta semana você tem 20% de desconto'),
        message_type: 'template',
        sender_type: 'bot-chat',
        message_status: 'sent',
      },
    ])
    const [recipient] = await at.recipients(id)
    expect(recipient.messageId).toBe(body.messages[0].message_id)
  })

  it('uses the requested language', async () => {
    const template = { name: 'two', category: 'UTILITY', components: [{ type: 'BODY', text: 'Hi' }] }
    for (const language of ['en', 'pt_BR']) {
      const phone_number_id = at.organization.phoneNumberId
      await at.world.sim('PUT', '/templates', { phone_number_id, template: { ...template, language } })
    }
    await at.ask('POST', '/templates/sync')
    const { id } = await at.newContact()
    const made = await at.create({ templateName: 'two', language: 'en', audience: { contactIds: [id] } })
    expect(made.language).toBe('en')
  })
})

describe('the audience', () => {
  it('by tags contains contacts with any of them', async () => {
    const [red, blue, both] = [
      await at.newContact({ tags: ['red'] }),
      await at.newContact({ tags: ['blue', 'old'] }),
      await at.newContact({ tags: ['blue', 'red'] }),
    ]
    await at.newContact({ tags: ['Red', 'green'] })
    await at.newContact()
    await at.newContact({ tags: ['red'] }, at.other)
    const made = await at.send({ audience: { tags: ['red', 'blue', 'nobody'] } })
    expect(made).toMatchObject({ status: 'completed', totalRecipients: 3, skippedRecipients: 0 })
    const shown = (await at.recipients(made.id)).map(({ chatNumber }) => chatNumber)
    expect(shown).toEqual([red.digits, blue.digits, both.digits])
    expect(await arrivedFor(...shown)).toHaveLength(3)
  })

  it('by unused tags is empty: the broadcast completes, and nothing is sent', async () => {
    const made = await at.send({ audience: { tags: ['nobody'] } })
    expect(made).toMatchObject({ status: 'completed', totalRecipients: 0, skippedRecipients: 0 })
    expect(await at.recipients(made.id)).toEqual([])
    const about = (await eventsOf(at.world, at.organization)).filter(({ data }) => data.broadcast?.id === made.id)
    expect(about.map(({ type }) => type)).toEqual(['broadcast.started', 'broadcast.completed'])
  })

  it('by all contains every contact that exists now, and none created later', async () => {
    const owner = await startBroadcastWorld()
    try {
      const [one, two] = [await owner.newContact(), await owner.newContact({ archived: true })]
      const blocked = await owner.newContact()
      await owner.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
      await owner.newContact({}, owner.other)
      const later = new Date(owner.world.now().getTime() + 60_000).toISOString()
      const { id } = await owner.create({ audience: { all: true }, scheduled_at: later })
      await owner.newContact()
      await owner.world.drain()
      const shown = (await owner.recipients(id)).map(({ chatNumber, reason }) => [chatNumber, reason])
      expect(shown).toEqual([
        [one.digits, 'broadcast scheduled'],
        [two.digits, 'broadcast scheduled'],
        [blocked.digits, 'blocked'],
      ])
    } finally {
      await owner.close()
    }
  })

  it.each([
    ['with + and spaces', '+55 11 98765-1001', '5511987651001'],
    ['with a leading 0, as people of the country write it', '011 98765-1002', '5511987651002'],
    ['of Brazil without the ninth digit', '551187651003', '5511987651003'],
    ['of Mexico as it was', '5215512345671', '525512345671'],
  ])('by a number accepts one %s', async (_name, written, digits) => {
    const known = await createContact(at.world, at.organization, `+${digits}`)
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: written }] } })
    expect(await at.recipients(id)).toMatchObject([{ contactId: known, chatNumber: digits, status: 'sent' }])
  })

  it('by the chat id of a person without a number finds existing contacts only', async () => {
    const userId = 'US.13491208655302741'
    const inbound = {
      from_user_id: userId,
      id: 'wamid.Una',
      timestamp: '1750000000',
      type: 'text',
      text: { body: 'Hi' },
    }
    await receive(at.world, at.organization, { contacts: [{ user_id: userId }], messages: [inbound] })
    const chatNumbers = [userIdChatId(userId), userIdChatId('US.13491208655302742')]
    const { id } = await at.send({ audience: { recipients: chatNumbers.map((chatNumber) => ({ chatNumber })) } })
    expect(await at.outcomes(id)).toEqual(['sent', 'skipped: no such contact'])
    const sent = (await at.arrived()).at(-1)
    expect(sent).toMatchObject({ recipient: userId })
    expect(sent).not.toHaveProperty('to')
  })

  it('by unknown numbers creates contacts with the given name', async () => {
    const [named, nameless] = [at.newNumber(), at.newNumber()]
    const made = await at.send({
      templateName: OFFER,
      ...OFFER_PARAMETERS,
      audience: {
        recipients: [
          { chatNumber: named, name: 'Rita Lee' },
          { chatNumber: nameless, name: null },
        ],
      },
    })
    expect(made).toMatchObject({ totalRecipients: 2, status: 'completed' })
    expect(await contactOf(named)).toMatchObject({
      full_name: 'Rita Lee',
      allow_broadcast: true,
      tags: [],
      source: { type: 'broadcast_recipient' },
    })
    expect(await contactOf(nameless)).toMatchObject({ full_name: null, source: { type: 'broadcast_recipient' } })
    const names = (await arrivedFor(named, nameless)).map(({ to, template }) => [
      to,
      template.components[0].parameters[0].text,
    ])
    expect(names.sort()).toEqual([
      [named, 'Rita'],
      [nameless, 'there'],
    ])
    const created = await eventsOf(at.world, at.organization, 'contact.created')
    expect(created.filter(({ data }) => [named, nameless].includes(data.contact.chat_id))).toHaveLength(2)
  })

  it("addresses a person without a name by a word in the organization's language", async () => {
    const owner = at.other
    await at.world.admin('PATCH', `/organizations/${owner.id}`, { language: 'es' })
    const { digits } = await at.newContact({ full_name: null }, owner)
    const body = {
      name: 'Hola',
      templateName: OFFER,
      ...OFFER_PARAMETERS,
      audience: { recipients: [{ chatNumber: digits }] },
    }
    expect((await at.world.request('POST', '/broadcasts', { key: owner.key, body })).status).toBe(202)
    await at.world.drain()
    const { body: sent } = await at.world.sim('GET', `/messages?phone_number_id=${owner.phoneNumberId}`)
    expect(sent.messages.at(-1).payload.template.components[0].parameters[0].text).toBe('cliente')
  })

  it('leaves name and tags of known contacts unchanged', async () => {
    const { digits } = await at.newContact({ full_name: 'Ana', tags: ['vip'] })
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits, name: 'Other' }] } })
    expect(await contactOf(digits)).toMatchObject({ full_name: 'Ana', tags: ['vip'] })
    expect(await at.recipients(id)).toMatchObject([{ contactName: 'Ana' }])
  })

  it('from several sources contains each contact once: later ones are duplicates', async () => {
    const [one, two, three] = [
      await at.newContact({ tags: ['mix'] }),
      await at.newContact({ tags: ['mix'] }),
      await at.newContact({ tags: ['mix'] }),
    ]
    const fresh = at.newNumber()
    const made = await at.send({
      audience: {
        recipients: [{ chatNumber: `+${one.digits}` }, { chatNumber: fresh }, { chatNumber: `+${fresh}` }],
        contactIds: [two.id, one.id, two.id],
        tags: ['mix'],
      },
    })
    expect(made).toMatchObject({ totalRecipients: 4, skippedRecipients: 3 })
    expect(
      (await at.recipients(made.id)).map(({ chatNumber, status, reason }) => [chatNumber, status, reason]),
    ).toEqual([
      [one.digits, 'sent', null],
      [fresh, 'sent', null],
      [fresh, 'skipped', 'duplicate'],
      [two.digits, 'sent', null],
      [one.digits, 'skipped', 'duplicate'],
      [two.digits, 'skipped', 'duplicate'],
      [three.digits, 'sent', null],
    ])
    expect(numbersOf(await arrivedFor(one.digits, two.digits, three.digits, fresh))).toHaveLength(4)
  })

  it('from two numbers of one contact contains it once', async () => {
    const [older, newer] = ['5531999997001', '553199997001']
    await createContact(at.world, at.organization, `+${older}`)
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: newer }, { chatNumber: older }] } })
    expect(await at.outcomes(id)).toEqual(['sent', 'skipped: duplicate'])
  })
})

describe('a skipped recipient', () => {
  it('shows the reason, and does not count in the total', async () => {
    const [blocked, unwanted, foreign] = [
      await at.newContact(),
      await at.newContact({ allow_broadcast: false }),
      await at.newContact({}, at.other),
    ]
    const optedOut = at.newNumber()
    await at.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
    await at.world.request('POST', '/opt-outs/import', {
      key: at.organization.key,
      body: `phone_number,opted_out_at\n${optedOut},2026-01-01\n`,
      headers: { 'content-type': 'text/csv' },
    })
    const good = at.newNumber()
    const made = await at.create({
      audience: {
        recipients: ['hello', '12', blocked.digits, unwanted.digits, optedOut, good, `+${good}`].map((chatNumber) => ({
          chatNumber,
          name: 'Someone',
        })),
        contactIds: [foreign.id, '018f0000-0000-7000-8000-000000000000'],
      },
    })
    expect(made).toMatchObject({ totalRecipients: 1, skippedRecipients: 8 })
    await at.world.drain()
    expect(await at.read(made.id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 8 })
    expect(await at.outcomes(made.id)).toEqual([
      'skipped: not a number',
      'skipped: not a number',
      'skipped: blocked',
      'skipped: allow_broadcast is false',
      'skipped: opted out',
      'sent',
      'skipped: duplicate',
      'skipped: no such contact',
      'skipped: no such contact',
    ])
    const shown = await at.recipients(made.id)
    expect(shown[0]).toEqual({
      contactId: null,
      chatNumber: 'hello',
      contactName: 'Someone',
      status: 'skipped',
      reason: 'not a number',
      messageId: null,
      errorCode: null,
      errorMessage: null,
      sent_at: null,
      delivered_at: null,
      read_at: null,
    })
    expect(shown[7]).toMatchObject({ contactId: null, chatNumber: null, contactName: null })
    expect(await arrivedFor(blocked.digits, unwanted.digits, optedOut, foreign.digits)).toEqual([])
    expect(await arrivedFor(good)).toHaveLength(1)
  })

  it('lacks a value, which is only found when it is sent to', async () => {
    const [with_, without] = [await at.newContact({ email: 'a@b.example' }), await at.newContact()]
    const made = await at.create({
      templateName: OFFER,
      bodyParameters: { name: '{{email}}', discount: '5%' },
      buttonParameters: { param1: 'abc' },
      audience: { contactIds: [with_.id, without.id] },
    })
    expect(made).toMatchObject({ totalRecipients: 2, skippedRecipients: 0 })
    await at.world.drain()
    expect(await at.read(made.id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 1 })
    expect(await at.outcomes(made.id)).toEqual(['sent', 'skipped: missing value'])
  })

  it('shows no phone number, and the template is for authentication', async () => {
    const hidden = 'US.70000000000000000777'
    const { from: _, ...message } = textMessage('', 'Oi')
    await receiveMessages(at.world, at.organization, { ...message, from_user_id: hidden })
    const components = [{ type: 'BODY', text: 'O seu código é {{1}}' }]
    const template = { name: 'code', language: 'pt_BR', category: 'AUTHENTICATION', components }
    await at.world.sim('PUT', '/templates', { phone_number_id: at.organization.phoneNumberId, template })
    const known = await at.newContact()
    const { body } = await at.world.request('GET', `/contact?user_id=${hidden}`, { key: at.organization.key })
    const made = await at.create({
      templateName: 'code',
      bodyParameters: { param1: '1234' },
      audience: { contactIds: [known.id, body.contact.id] },
    })
    await at.world.drain()
    expect(await at.read(made.id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 1 })
    expect((await at.outcomes(made.id)).sort()).toEqual(['sent', 'skipped: no phone number'])
  })

  it('was blocked, or opted out, after the broadcast was created', async () => {
    const [blocked, unwanted, optedOut, good] = [
      await at.newContact(),
      await at.newContact(),
      await at.newContact(),
      await at.newContact(),
    ]
    const { id } = await at.create({ audience: { contactIds: [blocked.id, unwanted.id, optedOut.id, good.id] } })
    await at.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
    await at.ask('PATCH', `/contact?chat_id=${unwanted.digits}`, { body: { allow_broadcast: false } })
    await at.act(id, 'pause')
    await receiveMessages(at.world, at.organization, textMessage(optedOut.digits, 'STOP'))
    await at.act(id, 'resume')
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual([
      'skipped: blocked',
      'skipped: allow_broadcast is false',
      'skipped: opted out',
      'sent',
    ])
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 3 })
  })
})

describe("a recipient's own parameters", () => {
  const textsOf = async (digits: string) => {
    const [payload] = await arrivedFor(digits)
    return payload.template.components.flatMap(({ parameters }: { parameters: { text: string }[] }) =>
      parameters.map(({ text }) => text),
    )
  }

  it('override the common ones one by one, by name or by position', async () => {
    const [common, own, positional] = [at.newNumber(), at.newNumber(), at.newNumber()]
    await at.send({
      templateName: OFFER,
      bodyParameters: { name: 'friend', discount: '5%' },
      buttonParameters: { param1: 'all' },
      audience: {
        recipients: [
          { chatNumber: common },
          { chatNumber: own, bodyParameters: { discount: '50%' } },
          { chatNumber: positional, bodyParameters: { 1: 'Bia' }, buttonParameters: { 1: 'bia' } },
        ],
      },
    })
    expect(await textsOf(common)).toEqual(['friend', '5%', 'all'])
    expect(await textsOf(own)).toEqual(['friend', '50%', 'all'])
    expect(await textsOf(positional)).toEqual(['Bia', '5%', 'bia'])
  })

  it('may be the only ones; a recipient that lacks one is skipped', async () => {
    const [whole, half] = [at.newNumber(), at.newNumber()]
    const bodyParameters = { name: '{{full_name}}', discount: '1%' }
    const { id } = await at.send({
      templateName: OFFER,
      audience: {
        recipients: [
          { chatNumber: whole, name: 'Rui', bodyParameters, buttonParameters: { param1: 'x' } },
          { chatNumber: half, bodyParameters },
        ],
      },
    })
    expect(await at.outcomes(id)).toEqual(['sent', 'skipped: missing value'])
    expect(await textsOf(whole)).toEqual(['Rui', '1%', 'x'])
  })
})

describe('GET /broadcasts', () => {
  it('lists them newest first, page by page, by status', async () => {
    const owner = await startBroadcastWorld()
    try {
      const later = new Date(owner.world.now().getTime() + 60_000).toISOString()
      const made = []
      for (const scheduled_at of [null, later, null]) {
        made.unshift(
          await owner.create({ audience: { recipients: [{ chatNumber: owner.newNumber() }] }, scheduled_at }),
        )
      }
      const ids = made.map(({ id }) => id)
      const list = async (query: string) => (await owner.ask('GET', `/broadcasts?${query}`)).body
      expect(await list('')).toEqual({
        success: true,
        broadcasts: made,
        pagination: {
          currentPage: 1,
          totalPages: 1,
          totalBroadcasts: 3,
          broadcastsPerPage: 50,
          hasNextPage: false,
          hasPrevPage: false,
        },
        count: 3,
      })
      const second = await list('limit=2&page=2')
      expect(second.broadcasts.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2))
      expect(second.pagination).toMatchObject({ totalPages: 2, hasNextPage: false, hasPrevPage: true })
      const scheduled = await list('status=scheduled')
      expect(scheduled.broadcasts.map(({ id }: { id: string }) => id)).toEqual([ids[1]])
      expect(scheduled.pagination.totalBroadcasts).toBe(1)
      expect((await list('kind=single')).broadcasts).toEqual([])
    } finally {
      await owner.close()
    }
  })

  it('shows a send-template only among the one-off sends, and by its id', async () => {
    const { digits } = await at.newContact({ full_name: 'Ana' })
    const sent = await at.ask('POST', '/send-template', {
      body: { templateName: OFFER, chatNumber: digits, ...OFFER_PARAMETERS },
    })
    const { broadcastId: id } = sent.body
    const single = { id, status: 'completed', totalRecipients: 1, skippedRecipients: 0, templateName: OFFER }
    expect(await at.read(id)).toMatchObject(single)
    const list = async (query: string) => (await at.ask('GET', `/broadcasts?${query}`)).body.broadcasts
    expect((await list('kind=single')).map((one: { id: string }) => one.id)).toContain(id)
    expect((await list('limit=100')).map((one: { id: string }) => one.id)).not.toContain(id)
    expect(await at.recipients(id)).toMatchObject([{ chatNumber: digits, status: 'sent', contactName: 'Ana' }])
    expect(await at.recipients(id, 'status=failed')).toEqual([])
    const events = await eventsOf(at.world, at.organization)
    expect(events.filter(({ data }) => data.broadcast?.id === id)).toEqual([])
    for (const verb of ['pause', 'resume', 'cancel', 'retry-failed'] as const) {
      expect(await at.act(id, verb)).toMatchObject({ status: 409, body: { error: 'Invalid broadcast state' } })
    }
  })

  it('shows a send-template that failed like any other, with its own time', async () => {
    const sendTo = async (chatNumber: string) => {
      const body = { templateName: OFFER, chatNumber, ...OFFER_PARAMETERS }
      return (await at.ask('POST', '/send-template', { body })).body.broadcastId
    }
    await sendTo((await at.newContact({ full_name: 'Ana' })).digits)
    at.world.advance(MINUTE)
    const id = await sendTo((await at.newContact({ full_name: 'Eva', allow_broadcast: false })).digits)
    at.world.advance(MINUTE)
    const shown = await at.read(id)
    expect(shown).toMatchObject({ id, totalRecipients: 0, skippedRecipients: 1 })
    const analytics = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
    expect(analytics.body.data.broadcastInfo).toMatchObject({ id, createdAt: shown.created_at })
    for (const verb of ['pause', 'resume', 'cancel', 'retry-failed'] as const) {
      expect(await at.act(id, verb)).toMatchObject({ status: 409, body: { error: 'Invalid broadcast state' } })
    }
  })
})
