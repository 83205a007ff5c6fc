import { beforeAll, describe, expect, it } from 'vitest'
import { contact, createContact } from '../../../support/contacts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const template = useStarted(startTemplateWorld)

const ORDER = { templateName: 'pedido_enviado', bodyParameters: { '1': 'Ana', '2': '1042' } }

describe('POST /send-template, 200', () => {
  it('fetches an unknown template from the upstream, and returns the result of the send', async () => {
    const digits = await template.newContact({ full_name: 'Ana Souza' })
    const answer = await template.send({ ...ORDER, chatNumber: `+${digits}` })
    const { id } = (await contact(template.world, template.organization, digits)).body.contact
    const [arrived] = await template.arrived(digits)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      summary: { total: 1, successful: 1, failed: 0 },
      results: [{ contactId: id, contactName: 'Ana Souza', success: true, messageId: arrived.id, error: null }],
      broadcastId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('calls the upstream with the template and our id', async () => {
    const digits = await template.newContact()
    await template.send({ ...ORDER, chatNumber: digits })
    const [shown] = await template.shown(digits)
    const [{ payload }] = await template.arrived(digits)
    expect(payload).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: digits,
      biz_opaque_callback_data: shown.id,
      type: 'template',
      template: {
        name: 'pedido_enviado',
        language: { code: 'pt_BR' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ana' },
              { type: 'text', text: '1042' },
            ],
          },
        ],
      },
    })
  })

  it('records the text with its variables filled in', async () => {
    const digits = await template.newContact()
    const answer = await template.send({ ...ORDER, chatNumber: digits })
    expect(await template.shown(digits)).toEqual([
      {
        message: 'Olá, Ana! O seu pedido 1042 foi enviado.',
        sender_type: 'bot-chat',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        message_status: 'sent',
        media_type: null,
        media_url: null,
        content: expect.objectContaining({
          type: 'template',
          name: ORDER.templateName,
          header: null,
          body: 'Olá, Ana! O seu pedido 1042 foi enviado.',
          parameters: ['Ana', '1042'].map((text) => ({ component: 'body', index: null, name: null, text })),
        }),
        assignee: null,
        voice_note_transcription: null,
        reactions: [],
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message_id: answer.body.results[0].messageId,
        message_type: 'template',
        context_message_id: null,
        error: null,
        outcome: null,
        business_number: { phone_number_id: template.organization.phoneNumberId, phone_number: null },
      },
    ])
  })

  it('is found by a search for a filled-in value', async () => {
    const digits = await template.newContact()
    await template.send({
      templateName: 'pedido_enviado',
      chatNumber: digits,
      bodyParameters: { 1: 'Ana', 2: 'ZX-77' },
    })
    const found = await template.read(`/conversations?chatNumber=${digits}&query=zx-77`)
    expect(found.body.count).toBe(1)
  })

  it('raises message.sent, message.delivered and message.read, and no event of broadcasts', async () => {
    await template.world.sim('POST', '/settings', { statuses: true })
    const digits = await template.newContact()
    await template.send({ ...ORDER, chatNumber: digits })
    await template.world.settle()
    await template.world.sim('POST', '/settings', { statuses: false })
    const events = await eventsOf(template.world, template.organization)
    const own = events.filter(({ data }) => data.contact?.chat_id === digits && data.message)
    expect(own.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered', 'message.read'])
    expect(events.filter(({ type }) => type.startsWith('broadcast.'))).toEqual([])
    expect(await template.shown(digits)).toMatchObject([{ message_status: 'read' }])
  })

  it('accepts its own tenantId', async () => {
    const { world, organization } = template
    const body = { ...ORDER, chatNumber: await template.newContact() }
    const ask = (tenantId: string) =>
      world.request('POST', `/send-template?tenantId=${tenantId}`, { key: organization.key, body })
    expect((await ask(organization.slug)).body.success).toBe(true)
    expectRefusal(await ask('nobody'), 'Invalid API key', 401)
  })

  it('ignores unknown fields, and optional ones that are null', async () => {
    const nothing = {
      headerParameters: null,
      buttonParameters: null,
      headerMedia: null,
      language: null,
      memberId: null,
    }
    const body = { ...ORDER, ...nothing, surplus: 1, chatNumber: await template.newContact() }
    expect((await template.send(body)).body.success).toBe(true)
  })
})

describe('POST /send-template chooses the language', () => {
  beforeAll(async () => {
    const inLanguage = (name: string, language: string, status = 'APPROVED') =>
      template.putTemplate({ name, language, status, body: `${name} in ${language}` })
    await inLanguage('both', 'en_US')
    await inLanguage('both', 'pt_BR')
    await inLanguage('pending_here', 'pt_BR', 'PENDING')
    await inLanguage('pending_here', 'es')
    await inLanguage('pending_here', 'de', 'REJECTED')
    await inLanguage('elsewhere', 'it')
    await inLanguage('elsewhere', 'fr')
    await inLanguage('elsewhere', 'de', 'PAUSED')
    await inLanguage('waiting', 'pt_BR', 'PENDING')
    await template.world.request('POST', '/templates/sync', { key: template.organization.key })
  })

  it.each([
    ['of the organization', 'both', undefined, 'pt_BR'],
    ['that the body names', 'both', 'en_US', 'en_US'],
    ['of the only approved version', 'pending_here', undefined, 'es'],
    ['of the first approved version by name', 'elsewhere', undefined, 'fr'],
  ])('%s', async (_name, templateName, language, expected) => {
    const sent = await template.sent({ templateName, language, chatNumber: await template.newContact() })
    expect(sent.language).toEqual({ code: expected })
  })

  it.each([
    ['a name that does not exist', { templateName: 'nothing_like_it' }, 'nothing_like_it'],
    ['a template that is not approved', { templateName: 'waiting' }, 'PENDING'],
    ['a language that is not approved', { templateName: 'pending_here', language: 'pt_BR' }, 'pt_BR'],
    ['a language that does not exist', { templateName: 'both', language: 'ja' }, 'ja'],
  ])('or returns 400 Template not found for %s', async (_name, body, named) => {
    const digits = await template.newContact()
    const answer = await template.send({ ...body, chatNumber: digits })
    expect(expectRefusal(answer, 'Template not found')).toContain(named)
    await template.expectNothingSent(digits)
  })

  it('or returns 400 Template not found without creating a contact', async () => {
    const digits = template.newNumber()
    const answer = await template.send({ templateName: 'waiting', chatNumber: digits, bodyParameters: { name: 'Ana' } })
    expectRefusal(answer, 'Template not found')
    expect((await contact(template.world, template.organization, digits)).status).toBe(404)
  })
})

describe('POST /send-template returns 400', () => {
  it.each([{}, { chatNumber: '5511987650000' }, { chatNumber: '5511987650000', templateName: '' }])(
    'Template name is required: %j',
    async (body) => {
      expect(expectRefusal(await template.send(body), 'Template name is required')).toContain('templateName')
    },
  )

  it.each([{}, { chatNumber: '' }])('chatNumber is required, with a complete example: %j', async (body) => {
    const answer = await template.send({ templateName: 'pedido_enviado', ...body })
    expect(expectRefusal(answer, 'chatNumber is required')).toContain('chatNumber')
    expect(answer.body.example).toEqual({
      templateName: expect.any(String),
      chatNumber: expect.stringMatching(/^\d+$/),
      bodyParameters: expect.any(Object),
    })
  })

  it.each([
    ['templateName', { templateName: 5 }],
    ['templateName', { templateName: 'x'.repeat(513) }],
    ['chatNumber', { chatNumber: 5511987650000 }],
    ['chatNumber', { chatNumber: '5'.repeat(101) }],
    ['chatNumber', { chatNumber: '12' }],
    ['chatNumber', { chatNumber: 'ana' }],
    ['bodyParameters', { bodyParameters: ['Ana'] }],
    ['bodyParameters', { bodyParameters: 'Ana' }],
    ['bodyParameters.2', { bodyParameters: { 1: 'Ana', 2: 1042 } }],
    ['bodyParameters.2', { bodyParameters: { 1: 'Ana', 2: 'x'.repeat(4_097) } }],
    ['headerParameters', { headerParameters: 5 }],
    ['buttonParameters.param1', { buttonParameters: { param1: {} } }],
    ['headerMedia', { headerMedia: 5 }],
    ['language', { language: 5 }],
    ['memberId', { memberId: 'no-uuid' }],
  ])('Invalid field with the name %s', async (path, fields) => {
    const answer = await template.send({ ...ORDER, chatNumber: '5511987650000', ...fields })
    expect(expectRefusal(answer, 'Invalid field')).toContain(path)
  })

  it('Invalid field for more than 100 parameters', async () => {
    const bodyParameters = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, 'x']))
    const answer = await template.send({ ...ORDER, bodyParameters, chatNumber: '5511987650000' })
    expect(expectRefusal(answer, 'Invalid field')).toContain('bodyParameters')
  })

  it('Invalid provider for an organization without one, or with another one', async () => {
    const { world } = template
    const chatNumber = '5511987650000'
    const unset = await world.createOrganization()
    await world.admin('PATCH', `/organizations/${unset.id}`, { provider: null })
    const message = expectRefusal(await template.send({ ...ORDER, chatNumber }, undefined, unset), 'Invalid provider')
    expect(message).toContain('not set')
    const gateway = await world.createOrganization()
    await world.admin('PATCH', `/organizations/${gateway.id}`, { provider: 'gateway' })
    const other = await template.send({ ...ORDER, chatNumber }, undefined, gateway)
    expect(expectRefusal(other, 'Invalid provider')).toContain('gateway')
  })

  it('Contact blocked, for every category', async () => {
    const digits = await template.newContact()
    await template.world.request('PATCH', `/contact?chat_id=${digits}`, {
      key: template.organization.key,
      body: { blocked: true },
    })
    expectRefusal(await template.send({ ...ORDER, chatNumber: digits }), 'Contact blocked')
    await template.expectNothingSent(digits)
  })
})

describe('POST /send-template of another tenant', () => {
  it('does not see its templates', async () => {
    const other = await template.world.createOrganization()
    await template.putTemplate({ name: 'only_theirs', body: 'Olá' }, other)
    const chatNumber = await template.newContact()
    expectRefusal(await template.send({ templateName: 'only_theirs', chatNumber }), 'Template not found')
    const theirs = await template.newContact({}, other)
    const answer = await template.send({ templateName: 'only_theirs', chatNumber: theirs }, undefined, other)
    expect(answer.body.success).toBe(true)
  })

  it('does not see its contacts: the same number is another contact', async () => {
    const { world, organization } = template
    const other = await world.createOrganization()
    const digits = await template.newContact({ full_name: 'Theirs' }, other)
    expectRefusal(await template.send({ ...ORDER, chatNumber: digits }), 'Contact not found')
    const id = await createContact(world, organization, `+${digits}`, { full_name: 'Ours' })
    const answer = await template.send({ ...ORDER, chatNumber: digits })
    expect(answer.body.results).toMatchObject([{ contactId: id, contactName: 'Ours' }])
    const theirs = await template.read(`/conversations?chatNumber=${digits}`, other)
    expect(theirs.body.messages).toEqual([])
  })

  it('cannot send as its members', async () => {
    const { world } = template
    const other = await world.createOrganization()
    const member = { email: 'theirs@example.com', full_name: 'Mia', role: 'agent' }
    const { id } = (await world.admin('POST', `/organizations/${other.id}/members`, member)).body.member
    const digits = await template.newContact()
    const answer = await template.send({ ...ORDER, chatNumber: digits, memberId: id })
    expect(expectRefusal(answer, 'Invalid field')).toContain('memberId')
    await template.expectNothingSent(digits)
  })

  it('cannot read its messages', async () => {
    const other = await template.world.createOrganization()
    const { body } = await template.send({ ...ORDER, chatNumber: await template.newContact() })
    for (const path of [
      `/broadcasts/${body.broadcastId}`,
      `/broadcasts/${body.broadcastId}/recipients`,
      `/broadcasts/${body.broadcastId}/recipients?format=csv`,
      `/broadcast-analytics?broadcast_id=${body.broadcastId}`,
    ]) {
      expect((await template.read(path)).status, path).toBe(200)
      expectRefusal(await template.read(path, other), 'Broadcast not found', 404)
    }
    expect((await template.read('/broadcasts?kind=single', other)).body.broadcasts).toEqual([])
  })
})
