import { beforeAll, describe, expect, it } from 'vitest'
import { type BroadcastWorld, newBroadcaster, numbersOf, PLAIN, startBroadcastWorld } from '../support/broadcasts.js'
import { receive, textMessage } from '../support/callbacks.js'
import { type SignedInMember, signIn } from '../support/console.js'
import { createContact } from '../support/contacts.js'
import { createInstance } from '../support/instances.js'
import { useStarted } from '../support/started.js'
import type { TestOrganization } from '../support/world.js'

const at = useStarted(startBroadcastWorld)
let organization: TestOrganization

beforeAll(async () => {
  organization = at.organization
  await createInstance(at.world, organization, { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' })
})

const CSV = { 'content-type': 'text/csv' }

/** A number that is one of Porto Alegre if the country is left out, and one of Peru with it. */
let made = 0
const newBothWays = () => `519987${String(10_000 + ++made)}`

const create = (phone_number: string, owner = organization) =>
  at.ask('POST', '/contact', { key: owner.key, body: { phone_number } })
const importFile = async (body: string, owner = organization) => {
  const answer = await at.ask('POST', '/contacts/import', { key: owner.key, body, headers: CSV })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const chatIdsOf = (body: { results: { chat_id: string }[] }) => body.results.map(({ chat_id }) => chat_id)
const sendText = (number: string, fields = {}) =>
  at.world.request('POST', '/gateway/message/sendText/shop', {
    key: organization.key,
    body: { number, text: 'Oi', ...fields },
  })

describe('a number that is written as at home', () => {
  it('stays at home: contacts, templates and imports', async () => {
    const contact = (await create('(51) 99876-5432')).body.contact
    expect(contact).toMatchObject({ chat_id: '5551998765432', phone_number: '+5551998765432' })
    const found = await at.ask('GET', `/contact?${new URLSearchParams({ phone_number: '051 99876.5432' })}`)
    expect(found.body.contact.id).toBe(contact.id)
    const chat = { chatNumber: '(51) 99876-5432', templateName: PLAIN }
    const sent = await at.ask('POST', '/send-template', { body: chat })
    expect(sent.body.results[0].contactId).toBe(contact.id)
    const body = await importFile('Name,Phone\nAna,(51) 99876-5432\nRui,(81) 98765-4321\n')
    expect(chatIdsOf(body)).toEqual(['5551998765432', '5581987654321'])
    expect([body.doubtful, body.warnings]).toEqual([[], undefined])
  })
})

describe('bare digits that are a number at home and one abroad', () => {
  it('are international in a field of the API, unless a contact is known', async () => {
    const [abroad, home] = [newBothWays(), newBothWays()]
    expect((await create(abroad)).body.contact.chat_id).toBe(abroad)
    const known = (await create(`+55${home}`)).body.contact
    const again = await create(home)
    expect([again.status, again.body.id]).toEqual([409, known.id])
    const sent = await at.ask('POST', '/send-chat', {
      body: { phone_number: home, message_type: 'text', text: 'x' },
    })
    expect(sent.body.data.recipient).toBe(`55${home}`)
    const { body } = await at.ask('POST', '/send-template', { body: { chatNumber: home, templateName: PLAIN } })
    expect(body.results[0].contactId).toBe(known.id)
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: home }, { chatNumber: newBothWays() }] } })
    const [one, other] = await at.recipients(id)
    expect([one.chatNumber, other.chatNumber]).toEqual([`55${home}`, expect.stringMatching(/^51/)])
    // Another organization knows nobody.
    expect((await create(home, at.other)).body.contact.chat_id).toBe(home)
  })

  it('are of home in a file, unless a contact or an earlier row is known; the report lists them', async () => {
    const [home, abroad, inFile] = [newBothWays(), newBothWays(), newBothWays()]
    await create(`+${abroad}`)
    const rows = [home, abroad, `+${inFile}`, inFile, '1 (415) 555-2671', '5511987650001']
    const body = await importFile(`phone\n${rows.join('\n')}\n`)
    expect(chatIdsOf(body)).toEqual([`55${home}`, abroad, inFile, inFile, '14155552671', '5511987650001'])
    const doubts = body.doubtful.map(({ row, doubt }: { row: number; doubt: object }) => ({ row, ...doubt }))
    expect(doubts).toEqual([
      { row: 2, given: home, read_as: `+55${home}`, or: `+${home}` },
      { row: 3, given: abroad, read_as: `+${abroad}`, or: `+55${abroad}` },
      { row: 5, given: inFile, read_as: `+${inFile}`, or: `+55${inFile}` },
      { row: 6, given: '1 (415) 555-2671', read_as: '+14155552671', or: null },
    ])
    expect(body.warnings).toEqual([expect.stringContaining('4 numbers without a country code')])
    expect(chatIdsOf(await importFile(`chat_id\n${abroad}\n`, at.other))).toEqual([`55${abroad}`])
  })

  it('are of home in an audience, and listed before anything is sent', async () => {
    const [home, abroad] = [newBothWays(), newBothWays()]
    await create(`+${abroad}`)
    const csv = `chatNumber\n${home}\n${abroad}\n5511987650002\n`
    const { status, body } = await at.ask('POST', '/audiences', { body: csv, headers: CSV })
    expect(status).toBe(201)
    expect(body.doubtful).toEqual([
      { row: 2, given: home, read_as: `+55${home}`, or: `+${home}` },
      { row: 3, given: abroad, read_as: `+${abroad}`, or: `+55${abroad}` },
    ])
    expect(body.warnings).toEqual([expect.stringContaining('2 numbers without a country code')])
    const { id } = await at.send({ audience: { audienceId: body.audience.id } })
    const shown = (await at.recipients(id)).map(({ chatNumber }) => chatNumber)
    expect(shown).toEqual([`55${home}`, abroad, '5511987650002'])
  })

  it('are of home in a list that a member pastes, and the page is told', async () => {
    const owner: SignedInMember = await signIn(at.world, organization)
    const home = newBothWays()
    const audience = { recipients: [{ chatNumber: home }] }
    const counted = await owner.call('POST', '/audience', { body: { audience } })
    expect(counted.body).toMatchObject({
      reachable: 1,
      doubts: 1,
      doubtful: [{ given: home, read_as: `+55${home}`, or: `+${home}` }],
    })
    const sent = await owner.call('POST', '/broadcasts', { body: { name: 'x', templateName: PLAIN, audience } })
    expect(sent.status).toBe(202)
    const [recipient] = await at.recipients(sent.body.broadcast.id)
    expect(recipient.chatNumber).toBe(`55${home}`)
  })

  it('are international at the gateway', async () => {
    const abroad = newBothWays()
    const { status, body } = await sendText(abroad)
    expect([status, body.key.remoteJid]).toEqual([201, `${abroad}@s.whatsapp.net`])
  })
})

describe.each(['22507123456', '1234567', '99912345678901'])('a person whose id %s is no phone number', (id) => {
  let owner: TestOrganization
  const ask: BroadcastWorld['ask'] = (method, path, options) => at.ask(method, path, { key: owner.key, ...options })
  const arrived = async () => {
    const { body } = await at.world.sim('GET', `/messages?phone_number_id=${owner.phoneNumberId}`)
    return numbersOf(body.messages.map(({ payload }: { payload: object }) => payload))
  }

  beforeAll(async () => {
    owner = await newBroadcaster(at.world)
    await createInstance(at.world, owner, { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' })
    await receive(at.world, owner, { messages: [textMessage(id, 'Bonjour')] })
    // Otherwise the same digits could mean this person.
    await createContact(at.world, owner, '+5522507123456', {})
  })

  it('is read by everything that the API hands out', async () => {
    for (const given of [
      `chat_id=${id}`,
      `phone_number=%2B${id}`,
      `phone_number=${id}`,
      `chat_id=${id}@s.whatsapp.net`,
    ]) {
      const { status, body } = await ask('GET', `/contact?${given}`)
      expect({ given, status, chat_id: body.contact?.chat_id }).toEqual({ given, status: 200, chat_id: id })
    }
    const read = await ask('GET', `/conversations?chatNumber=${id}`)
    expect(read.body.messages.map(({ message }: { message: string }) => message)).toEqual(['Bonjour'])
    const one = await ask('GET', `/conversations?action=find-by-phone&chatNumber=%2B${id}`)
    expect(one.body.contact.chat_id).toBe(id)
    expect((await at.ask('GET', `/contact?chat_id=${id}`, { key: at.other.key })).body).not.toHaveProperty('contact')
  })

  it('is answered and changed, and nobody else is', async () => {
    const before = (await arrived()).length
    const text = { message_type: 'text', text: 'Salut' }
    expect((await ask('POST', '/send-chat', { body: { phone_number: id, ...text } })).body.success).toBe(true)
    const sent = await ask('POST', '/send-template', { body: { chatNumber: `+${id}`, templateName: PLAIN } })
    expect(sent.body.success).toBe(true)
    for (const number of [id, `+${id}`, `${id}@s.whatsapp.net`, `${id}@C.US`]) {
      const body = { number, text: 'Salut' }
      const answer = await at.world.request('POST', '/gateway/message/sendText/shop', { key: owner.key, body })
      expect([answer.status, answer.body.key?.remoteJid]).toEqual([201, `${id}@s.whatsapp.net`])
    }
    const audience = { recipients: [{ chatNumber: id }, { chatNumber: `${id}@s.whatsapp.net` }] }
    const { body } = await ask('POST', '/broadcasts', { body: { name: 'x', templateName: PLAIN, audience } })
    expect(body.broadcast).toMatchObject({ totalRecipients: 1, skippedRecipients: 1 })
    await at.world.drain()
    expect((await arrived()).slice(before)).toEqual(Array.from({ length: 7 }, () => id))
    const changed = await ask('PATCH', `/contact?chat_id=${id}`, { body: { full_name: 'Awa' } })
    expect(changed.body.contact).toMatchObject({ chat_id: id, full_name: 'Awa' })
    const found = await at.world.request('POST', '/gateway/chat/findMessages/shop', {
      key: owner.key,
      body: { where: { key: { remoteJid: `${id}@s.whatsapp.net` } } },
    })
    expect(found.body.messages.total).toBeGreaterThan(0)
  })

  it('is exported and imported again, also as an audience', async () => {
    const exported = await fetch(`${at.world.app.url}/contacts/export`, {
      headers: { authorization: `Bearer ${owner.key}` },
    })
    const { summary, doubtful } = await importFile(await exported.text(), owner)
    expect(summary).toMatchObject({ total: 2, unchanged: 2 })
    expect(doubtful).toEqual([])
    const upload = await ask('POST', '/audiences', { body: `chatNumber\n${id}\n`, headers: CSV })
    const audience = { audienceId: upload.body.audience.id }
    const { body } = await ask('POST', '/broadcasts', { body: { name: 'x', templateName: PLAIN, audience } })
    expect(body.broadcast).toMatchObject({ totalRecipients: 1, skippedRecipients: 0 })
  })

  it('is erased, and then unknown', async () => {
    const { body } = await ask('DELETE', `/contact?chat_id=${id}`)
    expect(body.message).toContain(id)
    expect((await ask('GET', `/contact?chat_id=${id}`)).status).toBeGreaterThanOrEqual(400)
    expect((await ask('GET', '/contact?chat_id=5522507123456')).status).toBe(200)
  })
})

describe('numbers as programs write them', () => {
  it('lose the decimals that a spreadsheet adds', async () => {
    expect((await create('919876543210.0')).body.contact.chat_id).toBe('919876543210')
    expect(chatIdsOf(await importFile('phone\n6281234567890.0\n14155552672.00\n'))).toEqual([
      '6281234567890',
      '14155552672',
    ])
    const { status, body } = await sendText('4915112345678.0')
    expect([status, body.key.remoteJid]).toEqual([201, '4915112345678@s.whatsapp.net'])
  })

  it('are refused if a spreadsheet rounded them, with the reason', async () => {
    const problem = expect.stringMatching(/^phone_number ".*E\+1\d" was rounded by a spreadsheet program.*as text/)
    const refused = await create('5,5119E+12')
    expect([refused.status, refused.body.message]).toEqual([400, problem])
    const body = await importFile('phone\n9.19812E+11\n')
    expect(body.failures).toMatchObject([{ row: 2, message: problem }])
    const gateway = await sendText('5.5119E+12')
    expect([gateway.status, JSON.stringify(gateway.body)]).toEqual([400, expect.stringContaining('was rounded')])
    const uploaded = await at.ask('POST', '/audiences', { body: 'chatNumber\n"5,5119E+12"\n', headers: CSV })
    expect([uploaded.status, uploaded.body.message]).toEqual([400, expect.stringContaining('was rounded')])
  })

  it.each([
    'whatsapp:+5541988887777',
    'WhatsApp: +55 41 98888-7777',
    'tel:+55-41-98888-7777',
    '+5541988887777@s.whatsapp.net',
    '+55 41 98888-7777@s.whatsapp.net',
    '5541988887777@S.WhatsApp.Net',
    '5541988887777:12@c.us',
    ' 5541988887777 @ c.us ',
    '+55\ufe0d-41-98888-7777',
    '\ufe0f +55 41 98888 7777',
    '+55\u034f41\u3164988887777\u2800',
    '\u17b5+5541988887777',
    '+5541988887777.0',
  ])('are understood in every field: %j', async (written) => {
    const digits = '5541988887777'
    const made = await create(written)
    expect([201, 409]).toContain(made.status)
    const query = new URLSearchParams({ phone_number: written })
    const { id } = (await at.ask('GET', `/contact?${query}`)).body.contact
    expect((await at.ask('GET', `/contact?chat_id=${digits}`)).body.contact.id).toBe(id)
    const chat = new URLSearchParams({ chatNumber: written })
    expect((await at.ask('GET', `/conversations?${chat}`)).status).toBe(200)
    const sent = await at.ask('POST', '/send-chat', {
      body: { phone_number: written, message_type: 'text', text: 'x' },
    })
    expect(sent.body.data.recipient).toBe(digits)
    expect(chatIdsOf(await importFile(`phone\n"${written}"\n`))).toEqual([digits])
    const { status, body } = await sendText(written)
    expect([status, body.key?.remoteJid]).toEqual([201, `${digits}@s.whatsapp.net`])
    const uploaded = await at.ask('POST', '/audiences', { body: `chatNumber\n"${written}"\n`, headers: CSV })
    expect([uploaded.status, uploaded.body.doubtful]).toEqual([201, []])
    await at.ask('DELETE', `/audiences/${uploaded.body.audience.id}`)
  })
})
