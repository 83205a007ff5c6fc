import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const template = useStarted(startTemplateWorld)

beforeAll(async () => {
  await template.putTemplate({ name: 'promo', category: 'MARKETING', body: 'Promo' })
  await template.putTemplate({ name: 'code', category: 'AUTHENTICATION', body: 'O seu código é {{1}}' })
})

const find = async (digits: string) => (await contact(template.world, template.organization, digits)).body.contact
const change = async (digits: string, body: object) => {
  const { world, organization } = template
  const changed = await world.request('PATCH', `/contact?chat_id=${digits}`, { key: organization.key, body })
  expect(changed.status).toBe(200)
}

describe('chatNumber', () => {
  it.each([
    ['5511912345601', '+55 11 91234-5601'],
    ['5511912345602', '+5511912345602'],
    ['5511912345603', ' (011) 91234 5603 '],
    ['5511912345604', '011912345604'],
    ['5511912345605', '11 91234-5605'],
    ['5511912345606', '0055 11 912345606'],
    ['5531987345607', '553187345607'],
    ['5511912345608', '5511912345608'],
  ])('finds the contact %s by %j', async (digits, chatNumber) => {
    const { world, organization } = template
    const id = await createContact(world, organization, `+${digits}`)
    const answer = await template.send({ templateName: 'hello_world', chatNumber, bodyParameters: { name: 'Nobody' } })
    expect(answer.body.results, JSON.stringify(answer.body)).toMatchObject([{ contactId: id, success: true }])
    expect(await template.shown(digits)).toHaveLength(1)
  })

  it('is read with the country of the organization', async () => {
    const { world } = template
    const german = await world.createOrganization({ default_country: 'DE' })
    const id = await createContact(world, german, '+491701234567')
    const answer = await template.send({ templateName: 'hello_world', chatNumber: '0170 1234567' }, undefined, german)
    expect(answer.body.results).toMatchObject([{ contactId: id }])
  })
})

describe('to_user_id', () => {
  let people = 0
  const newUserId = () => `US.7000000000000000${String(++people).padStart(3, '0')}`
  const hears = (userId: string, fields: object = {}) => {
    const { from: _, ...message } = textMessage('', 'Oi')
    return receiveMessages(template.world, template.organization, { ...message, from_user_id: userId, ...fields })
  }

  it('reaches a person without a number, and one with a number', async () => {
    const [alone, both, digits] = [newUserId(), newUserId(), template.newNumber()]
    await hears(alone)
    await hears(both, { from: digits })
    for (const [to_user_id, to] of [
      [alone, alone],
      [both, digits],
    ] as const) {
      const answer = await template.send({ templateName: 'hello_world', to_user_id })
      expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true })
      expect(await template.arrived(to)).toHaveLength(1)
    }
  })

  it('is refused for an authentication template if the person has no number', async () => {
    const [alone, both, digits] = [newUserId(), newUserId(), template.newNumber()]
    await hears(alone)
    await hears(both, { from: digits })
    const code = { templateName: 'code', bodyParameters: { param1: '1234' } }
    for (const to of [{ to_user_id: alone }, { chatNumber: alone }]) {
      const message = expectRefusal(await template.send({ ...code, ...to }), 'Invalid field')
      expect(message).toMatch(new RegExp(`^${Object.keys(to)[0]} .*authentication`))
    }
    expect(await template.arrived(alone)).toEqual([])
    expect((await template.send({ ...code, to_user_id: both })).body).toMatchObject({ success: true })
  })

  it('must be a contact of this organization', async () => {
    const userId = newUserId()
    await hears(userId)
    const other = await template.world.createOrganization()
    const send = (to_user_id: string, owner = template.organization) =>
      template.send({ templateName: 'hello_world', to_user_id, bodyParameters: { name: 'Una' } }, undefined, owner)
    expectRefusal(await send(userId, other), 'Contact not found')
    expect(expectRefusal(await send(newUserId()), 'Contact not found')).toContain('user id US.')
  })
})

describe('an unknown number', () => {
  it.each([
    ['without parameters', { templateName: 'hello_world' }],
    ['of a template that needs some', { templateName: 'oferta_da_semana', bodyParameters: { discount: '20%' } }],
    ['with an empty name', { templateName: 'hello_world', bodyParameters: { name: '' } }],
    ['with a blank name', { templateName: 'hello_world', bodyParameters: { name: ' \n ' } }],
    ['with a placeholder for a name', { templateName: 'hello_world', bodyParameters: { name: '{{full_name}}' } }],
  ])('returns 400 Contact not found %s', async (_name, body) => {
    const digits = template.newNumber()
    const answer = await template.send({ ...body, chatNumber: `+${digits}` })
    const message = expectRefusal(answer, 'Contact not found')
    expect(message).toContain('bodyParameters.name')
    expect(message).toContain(digits)
    expect(answer.body.chat_id).toBe(digits)
    expect(await find(digits)).toBeUndefined()
    expect(await template.arrived(digits)).toEqual([])
  })

  it('becomes a contact with the given name, and the template is sent at once', async () => {
    const { world, organization } = template
    const digits = template.newNumber()
    const body = {
      templateName: 'oferta_da_semana',
      chatNumber: `0${digits.slice(2)}`,
      bodyParameters: { name: 'Ana Souza', discount: '20%' },
      buttonParameters: { param1: 'abc' },
    }
    const answer = await template.send(body)
    const made = await find(digits)
    expect(answer.body).toMatchObject({
      success: true,
      results: [{ contactId: made.id, contactName: 'Ana Souza', success: true, error: null }],
    })
    expect(made).toMatchObject({
      full_name: 'Ana Souza',
      chat_id: digits,
      phone_number: `+${digits}`,
      email: null,
      tags: [],
      bot_status: null,
      allow_broadcast: true,
      blocked: false,
      archived: false,
      source: { type: 'send_template_auto_create' },
    })
    expect(Number.isNaN(Date.parse(made.source.created_at))).toBe(false)
    expect(await template.shown(digits)).toMatchObject([
      { message: 'Oi, Ana Souza! Esta semana você tem 20% de desconto em toda a loja.' },
    ])
    const events = (await eventsOf(world, organization)).filter(({ contact_id }) => contact_id === made.id)
    expect(events.map(({ type }) => type)).toEqual(['contact.created', 'message.sent'])
  })

  it('is found by the second send, which keeps its name', async () => {
    const digits = template.newNumber()
    const body = { templateName: 'hello_world', chatNumber: digits }
    const first = await template.send({ ...body, bodyParameters: { name: 'Ana' } })
    const second = await template.send({ ...body, bodyParameters: { name: 'Bia' } })
    const third = await template.send(body)
    expect([second, third].map((answer) => answer.body.results[0])).toMatchObject([
      { contactId: first.body.results[0].contactId, contactName: 'Ana' },
      { contactId: first.body.results[0].contactId, contactName: 'Ana' },
    ])
    expect(await template.shown(digits)).toHaveLength(3)
  })

  it('becomes one contact in concurrent sends, in any form', async () => {
    const { world, organization } = template
    const digits = template.newNumber()
    const forms = [digits, `+${digits}`, `0${digits.slice(2)}`, digits.slice(2)]
    const answers = await Promise.all(
      [...forms, ...forms].map((chatNumber) =>
        template.send({ templateName: 'hello_world', chatNumber, bodyParameters: { name: 'Ana' } }),
      ),
    )
    expect(answers.map(({ body }) => body.success)).toEqual(Array(8).fill(true))
    expect(new Set(answers.map(({ body }) => body.results[0].contactId)).size).toBe(1)
    expect(await template.shown(digits)).toHaveLength(8)
    const created = await eventsOf(world, organization, 'contact.created')
    expect(created.filter(({ data }) => data.contact.chat_id === digits)).toHaveLength(1)
  })

  it('gets a name of one line with at most 255 characters', async () => {
    const digits = template.newNumber()
    const send = (name: string) =>
      template.send({ templateName: 'hello_world', chatNumber: digits, bodyParameters: { name } })
    expect(expectRefusal(await send('👍'.repeat(256)), 'Invalid field')).toContain('bodyParameters.name')
    expect(await find(digits)).toBeUndefined()
    expect((await send(` Ana\n${'👍'.repeat(251)} `)).body.success).toBe(true)
    expect((await find(digits)).full_name).toBe(`Ana ${'👍'.repeat(251)}`)
  })

  it('creates no contact if the request is refused otherwise', async () => {
    const digits = template.newNumber()
    const answer = await template.send({
      templateName: 'oferta_da_semana',
      chatNumber: digits,
      bodyParameters: { name: 'Ana' },
    })
    expect(expectRefusal(answer, 'Missing required field')).toContain('bodyParameters.discount')
    expect(await find(digits)).toBeUndefined()
  })
})

describe('memberId', () => {
  let member: { id: string; email: string; full_name: string }

  beforeAll(async () => {
    const { world, organization } = template
    const fields = { email: 'mia@example.com', full_name: 'Mia', role: 'agent' }
    member = (await world.admin('POST', `/organizations/${organization.id}/members`, fields)).body.member
  })

  it('marks the message as sent by a human, with its assignee, and pauses the bot', async () => {
    const { world, organization } = template
    const digits = await template.newContact()
    await change(digits, { bot_status: 'active' })
    await receiveMessages(world, organization, textMessage(digits, 'oi'))
    expect(await find(digits)).toMatchObject({ has_unread_messages: true })
    await template.send({ templateName: 'hello_world', chatNumber: digits, memberId: member.id })
    expect((await template.shown(digits)).at(-1)).toMatchObject({
      sender_type: 'human-chat',
      assignee: { id: member.id, full_name: 'Mia', email: 'mia@example.com' },
    })
    expect(await find(digits)).toMatchObject({ bot_status: 'paused', has_unread_messages: false })
  })

  it('may be absent: the bot sends, and stays active', async () => {
    const digits = await template.newContact()
    await change(digits, { bot_status: 'active' })
    await template.send({ templateName: 'hello_world', chatNumber: digits })
    expect(await template.shown(digits)).toMatchObject([{ sender_type: 'bot-chat', assignee: null }])
    expect(await find(digits)).toMatchObject({ bot_status: 'active' })
  })

  it('leaves a bot that is not configured, or paused, unchanged', async () => {
    for (const bot_status of [null, 'paused']) {
      const digits = await template.newContact()
      await change(digits, { bot_status })
      await template.send({ templateName: 'hello_world', chatNumber: digits, memberId: member.id })
      expect(await find(digits)).toMatchObject({ bot_status })
    }
  })

  it('that is unknown returns 400 Invalid field, and creates no contact', async () => {
    const digits = template.newNumber()
    const memberId = '00000000-0000-7000-8000-000000000000'
    const bodyParameters = { name: 'Ana' }
    const answer = await template.send({ templateName: 'hello_world', chatNumber: digits, bodyParameters, memberId })
    expect(expectRefusal(answer, 'Invalid field')).toContain('memberId')
    expect(await find(digits)).toBeUndefined()
  })
})

describe('a contact that wants no broadcasts', () => {
  let digits: string

  beforeEach(async () => {
    digits = await template.newContact({ full_name: 'Ana' })
  })

  async function expectOptedOut(reason: string): Promise<void> {
    const answer = await template.send({ templateName: 'promo', chatNumber: digits })
    const { id } = await find(digits)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: false,
      summary: { total: 1, successful: 0, failed: 1 },
      results: [{ contactId: id, contactName: 'Ana', success: false, messageId: null, error: 'Contact opted out' }],
      error: 'Contact opted out',
      broadcastId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await template.arrived(digits)).toEqual([])
    const path = `/broadcasts/${answer.body.broadcastId}`
    expect((await template.read(path)).body.broadcast).toMatchObject({
      id: answer.body.broadcastId,
      status: 'completed',
      totalRecipients: 0,
      skippedRecipients: 1,
    })
    expect((await template.read(`${path}/recipients`)).body.recipients).toMatchObject([
      { contactId: id, chatNumber: digits, contactName: 'Ana', status: 'skipped', reason, messageId: null },
    ])
  }

  it('by allow_broadcast gets no marketing: 200 with success false', async () => {
    await change(digits, { allow_broadcast: false })
    await expectOptedOut('allow_broadcast is false')
    expect(await template.shown(digits)).toEqual([])
  })

  it('by a reply gets no marketing', async () => {
    await receiveMessages(template.world, template.organization, textMessage(digits, 'STOP'))
    expect(await find(digits)).toMatchObject({ allow_broadcast: false })
    await expectOptedOut('opted out')
    expect(await template.shown(digits)).toHaveLength(1)
  })

  it.each([
    ['UTILITY', { templateName: 'hello_world' }],
    ['AUTHENTICATION', { templateName: 'code', bodyParameters: { 1: '1234' } }],
  ])('still gets %s', async (_category, body) => {
    await receiveMessages(template.world, template.organization, textMessage(digits, 'STOP'))
    expect((await template.send({ ...body, chatNumber: digits })).body.success).toBe(true)
  })

  it('gets marketing again once it is allowed', async () => {
    await change(digits, { allow_broadcast: false })
    await change(digits, { allow_broadcast: true })
    expect((await template.send({ templateName: 'promo', chatNumber: digits })).body.success).toBe(true)
  })

  it('and is blocked too returns 400 Contact blocked', async () => {
    await change(digits, { allow_broadcast: false, blocked: true })
    expectRefusal(await template.send({ templateName: 'promo', chatNumber: digits }), 'Contact blocked')
  })
})
