import { beforeAll, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { contact } from '../../../support/contacts.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'
import type { TestOrganization } from '../../../support/world.js'

const template = useStarted(startTemplateWorld)

beforeAll(async () => {
  await template.putTemplate({ name: 'says', body: 'Diz: {{1}}.' })
  await template.putTemplate({
    name: 'everywhere',
    header: { format: 'TEXT', text: 'Para {{1}}' },
    body: 'Olá',
    buttons: [{ type: 'URL', text: 'Conta', url: 'https://shop.example/{{1}}' }],
  })
})

/** The upstream's value for a parameter that is sent to the contact. */
async function says(chatNumber: string, value: string): Promise<string> {
  const sent = await template.sent({ templateName: 'says', chatNumber, bodyParameters: { 1: value } })
  const [shown] = (await template.read(`/conversations?chatNumber=${chatNumber}&limit=1`)).body.messages
  const { text } = sent.components[0].parameters[0]
  expect(shown.message).toBe(`Diz: ${text}.`)
  return text
}

describe('{{first_name}}', () => {
  it.each([
    ['Ana Souza', 'Ana'],
    ['Ana', 'Ana'],
    ['  ana   souza ', 'ana'],
    ['🌸 Ana 🌸 Souza', 'Ana'],
    ['Ana🌸', 'Ana'],
    ['🌸🌸Ana🌸Souza', 'Ana'],
    ['👩🏽‍🦱 Bia', 'Bia'],
    ['🇧🇷 José', 'José'],
    ["D'Ávila Lima", "D'Ávila"],
    ['Anne-Marie Duval', 'Anne-Marie'],
    ['李 小龍', '李'],
    ['محمد علي', 'محمد'],
    ['~ Ana ~', 'Ana'],
    ['5511987654321', 'cliente'],
    ['+55 (11) 98765-4321', 'cliente'],
    ['🌸🌸', 'cliente'],
    ['', 'cliente'],
    ['   ', 'cliente'],
    ['...', 'cliente'],
    [null, 'cliente'],
  ])('of %j is %j', async (full_name, expected) => {
    const digits = await template.newContact({ full_name })
    expect(await says(digits, '{{first_name}}')).toBe(expected)
  })

  it("of a person without a name is the English word if the organization's language is unset or unknown", async () => {
    const { world } = template
    const nameless = async (owner: TestOrganization) => {
      const chatNumber = await template.newContact({ full_name: null }, owner)
      await template.putTemplate({ name: 'says', body: 'Diz: {{1}}.' }, owner)
      const body = { templateName: 'says', language: 'pt_BR', chatNumber, bodyParameters: { 1: '{{first_name}}' } }
      await template.send(body, undefined, owner)
      const [{ message }] = (await template.read(`/conversations?chatNumber=${chatNumber}`, owner)).body.messages
      return message
    }
    const silent = await world.createOrganization({ default_country: 'BR' })
    const english = await world.createOrganization({ default_country: 'BR', language: 'en_US' })
    expect(await nameless(silent)).toBe('Diz: there.')
    expect(await nameless(english)).toBe('Diz: there.')
    await world.admin('PATCH', `/organizations/${english.id}`, { language: 'es_AR' })
    expect(await nameless(english)).toBe('Diz: cliente.')
  })
})

describe('the other placeholders', () => {
  it('are the fields of the contact as the API shows them', async () => {
    const digits = await template.newContact({ full_name: 'Ana Souza', email: 'ana@example.com' })
    expect(await says(digits, '{{full_name}}')).toBe('Ana Souza')
    expect(await says(digits, '{{email}}')).toBe('ana@example.com')
    expect(await says(digits, '{{phone_number}}')).toBe(`+${digits}`)
    expect(await says(digits, '{{chat_id}}')).toBe(digits)
  })

  it('may be mixed with text and with each other, in any case and with spaces', async () => {
    const digits = await template.newContact({ full_name: 'Ana Souza' })
    expect(await says(digits, 'Sra. {{ First_Name }} ({{full_name}}, {{full_name}})')).toBe(
      'Sra. Ana (Ana Souza, Ana Souza)',
    )
  })

  it('are not replaced again inside a value', async () => {
    const digits = await template.newContact({ full_name: '{{email}} $&' })
    expect(await says(digits, '{{full_name}}')).toBe('{{email}} $&')
  })

  it('produce a value that the upstream accepts', async () => {
    const digits = await template.newContact({ full_name: 'Ana\n\nMaria     Souza\t' })
    expect(await says(digits, '{{full_name}}!')).toBe('Ana Maria Souza!')
  })

  it('work in headers and buttons too', async () => {
    const sent = await template.sent({
      templateName: 'everywhere',
      chatNumber: await template.newContact({ full_name: 'Zoë K' }),
      headerParameters: { 1: '{{first_name}}' },
      buttonParameters: { 1: '{{first_name}}' },
    })
    const texts = sent.components.map((one: { parameters: [{ text: string }] }) => one.parameters[0].text)
    expect(texts).toEqual(['Zoë', 'Zo%C3%AB'])
  })

  it.each([
    ['full_name', {}],
    ['full_name', { full_name: ' ' }],
    ['email', { full_name: 'Ana' }],
  ])('that resolve to nothing are refused by name: %s of %j', async (name, fields) => {
    const digits = await template.newContact(fields)
    const bodyParameters = { 1: `x {{${name}}}` }
    const message = expectRefusal(
      await template.send({ templateName: 'says', chatNumber: digits, bodyParameters }),
      'Invalid field',
    )
    expect(message).toContain('bodyParameters.1')
    expect(message).toContain(`{{${name}}}`)
    await template.expectNothingSent(digits)
  })

  it.each(['{{nickname}}', '{{ }}', '{{1}}', '{{constructor}}', '{{__proto__}}'])(
    'that are unknown are refused: %s',
    async (placeholder) => {
      const digits = await template.newContact({ full_name: 'Ana' })
      const bodyParameters = { 1: `x ${placeholder}` }
      const answer = await template.send({ templateName: 'says', chatNumber: digits, bodyParameters })
      expect(expectRefusal(answer, 'Invalid field')).toContain(placeholder)
    },
  )

  it('of a person without a phone number: {{phone_number}} is refused, {{chat_id}} works', async () => {
    const { world, organization } = template
    const message = textMessage('', 'hi', { from: undefined, from_user_id: 'US.1234567890' })
    await receiveMessages(world, organization, message)
    const { body } = await template.read('/conversations?action=contacts&limit=1')
    const [{ chat_id }] = body.contacts
    expect(chat_id).toMatch(/^0\d{19}$/)
    expect(await says(chat_id, '{{chat_id}}')).toBe(chat_id)
    const bodyParameters = { 1: '{{phone_number}}' }
    const answer = await template.send({ templateName: 'says', chatNumber: chat_id, bodyParameters })
    expect(expectRefusal(answer, 'Invalid field')).toContain('{{phone_number}}')
  })

  it('that resolve to nothing for a new contact prevent its creation', async () => {
    const digits = template.newNumber()
    const bodyParameters = { name: 'Ana', 1: '{{email}}' }
    const answer = await template.send({ templateName: 'says', chatNumber: digits, bodyParameters })
    expect(expectRefusal(answer, 'Invalid field')).toContain('{{email}}')
    expect((await contact(template.world, template.organization, digits)).status).toBe(404)
  })

  it('use the contact that the send creates', async () => {
    const digits = template.newNumber()
    const bodyParameters = { name: '🌸 Bia Lima', 1: '{{first_name}} {{full_name}} {{phone_number}} {{chat_id}}' }
    const sent = await template.sent({ templateName: 'says', chatNumber: digits, bodyParameters })
    expect(sent.components[0].parameters[0].text).toBe(`Bia 🌸 Bia Lima +${digits} ${digits}`)
  })
})
