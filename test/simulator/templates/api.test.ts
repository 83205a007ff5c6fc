import { beforeEach, describe, expect, it } from 'vitest'
import type { TemplateStatusValue } from '../../../src/upstream/wire.js'
import { accessToken, call, errorOf, phoneNumberId, registration, useWorld } from '../../support/simulator.js'

const accountId = '419561257915477'
const samples = ['hello_world', 'oferta_da_semana', 'pedido_enviado', 'nova_colecao']
const plain = {
  name: 'plain',
  language: 'en',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Good day' }],
}

const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/reset')
  world.receiver.taken.length = 0
})

interface List {
  data: Array<Record<string, unknown>>
  paging?: { cursors: { before: string; after: string }; next?: string }
}

async function list(query = '', path = `${world.simulator.upstreamUrl}/${accountId}`): Promise<List> {
  const { status, body } = await call('GET', `${path}/message_templates${query}`, undefined, accessToken)
  expect([status, body]).toEqual([200, expect.objectContaining({ data: expect.any(Array) })])
  return body as unknown as List
}

const namesOf = ({ data }: List) => data.map(({ name }) => name)

function put(template: object) {
  return world.control('PUT', '/templates', { phone_number_id: phoneNumberId, template })
}

describe('the list of templates', () => {
  it('starts with samples that can be sent at once', async () => {
    const { data, paging } = await list('?fields=name,language,status,category,parameter_format,components')
    expect(
      data.map(({ name, language, category, parameter_format }) => [name, language, category, parameter_format]),
    ).toEqual([
      ['hello_world', 'en_US', 'UTILITY', 'POSITIONAL'],
      ['oferta_da_semana', 'pt_BR', 'MARKETING', 'NAMED'],
      ['pedido_enviado', 'pt_BR', 'UTILITY', 'POSITIONAL'],
      ['nova_colecao', 'pt_BR', 'MARKETING', 'NAMED'],
    ])
    expect(data.every(({ status }) => status === 'APPROVED')).toBe(true)
    expect(paging).toEqual({ cursors: { before: expect.any(String), after: expect.any(String) } })
  })

  it('shows the default fields, or the requested ones and the id', async () => {
    const [all] = (await list('?limit=1')).data
    expect(Object.keys(all ?? {}).sort()).toEqual(['category', 'components', 'id', 'language', 'name', 'status'])
    const [some] = (await list('?limit=1&fields=name,rejected_reason')).data
    expect(some).toEqual({ id: expect.stringMatching(/^\d{16}$/), name: 'hello_world', rejected_reason: 'NONE' })
  })

  it('has pages that are followed by URL or by cursor', async () => {
    const first = await list('?fields=name&limit=3')
    expect(namesOf(first)).toEqual(samples.slice(0, 3))
    expect(first.paging?.next).toBe(
      `${world.simulator.upstreamUrl}/${accountId}/message_templates?fields=name&limit=3&after=${first.paging?.cursors.after}`,
    )
    const next = await call('GET', String(first.paging?.next), undefined, accessToken)
    expect(namesOf(next.body as unknown as List)).toEqual(samples.slice(3))
    const last = await list(`?limit=1&after=${first.paging?.cursors.after}`)
    expect(namesOf(last)).toEqual(samples.slice(3))
    expect(last.paging).not.toHaveProperty('next')
    expect(await list(`?after=${last.paging?.cursors.after}`)).toEqual({ data: [] })
  })

  it('shows 25 per page', async () => {
    for (let n = samples.length; n < 26; n += 1) await put({ ...plain, name: `plain_${n}` })
    const { data, paging } = await list()
    expect(data).toHaveLength(25)
    expect(paging?.next).toContain('after=')
  })

  it.each([
    ['name=pedido_enviado', ['pedido_enviado']],
    ['language=en_US', ['hello_world']],
    ['category=MARKETING', ['oferta_da_semana', 'nova_colecao']],
    ['status=PAUSED', []],
    ['language=pt_BR&category=UTILITY', ['pedido_enviado']],
  ])('is filtered by %s', async (query, names) => {
    expect(namesOf(await list(`?${query}`))).toEqual(names)
  })

  it.each([
    ['limit=0', 100, 'limit'],
    ['limit=1&limit=2', 100, 'must be given once'],
    ['fields=name,colour', 100, 'Tried accessing nonexisting field (colour)'],
    ['after=nonsense', 100, 'after is not a cursor'],
  ])('refuses %s', async (query, code, text) => {
    const url = `${world.simulator.upstreamUrl}/${accountId}/message_templates?${query}`
    const { status, body } = await call('GET', url, undefined, accessToken)
    expect([status, errorOf(body).code]).toEqual([400, code])
    expect(errorOf(body).message).toContain(text)
  })

  it('refuses an invalid cursor with a separate code from version 24 on', async () => {
    const url = `${world.simulator.url}/v24.0/${accountId}/message_templates?after=nonsense`
    expect(errorOf((await call('GET', url, undefined, accessToken)).body).code).toBe(131059)
  })

  it.each<[string, string, string | null, { status: number; code: number }]>([
    ['no token', accountId, null, { status: 401, code: 104 }],
    ['the token of another', accountId, 'wrong', { status: 401, code: 190 }],
    ['an account that has no number', '77', accessToken, { status: 400, code: 100 }],
  ])('is not shown to %s', async (_what, account, token, { status, code }) => {
    const url = `${world.simulator.upstreamUrl}/${account}/message_templates`
    const answer = await call('GET', url, undefined, token)
    expect([answer.status, errorOf(answer.body).code]).toEqual([status, code])
  })

  it('belongs to one account only', async () => {
    const other = {
      ...registration(world.receiver.url),
      business_account_id: 'organization/front',
      access_token: 'other',
    }
    await world.control('PUT', '/numbers/2', other)
    await put(plain)
    const path = `${world.simulator.upstreamUrl}/${encodeURIComponent('organization/front')}/message_templates`
    const { body } = await call('GET', path, undefined, 'other')
    expect(namesOf(body as unknown as List)).toEqual(samples)
    expect((await call('GET', path, undefined, accessToken)).status).toBe(401)
    await world.control('DELETE', '/numbers/2')
  })
})

describe('a template of the simulator', () => {
  it('can be created, replaced and deleted', async () => {
    const made = await put({ ...plain, components: [{ type: 'body', text: 'Hi {{first_name}}' }] })
    expect(made).toMatchObject({
      status: 200,
      body: {
        success: true,
        template: {
          id: expect.stringMatching(/^\d{16}$/),
          status: 'APPROVED',
          parameter_format: 'NAMED',
          components: [{ type: 'BODY', text: 'Hi {{first_name}}' }],
        },
      },
    })
    const replaced = await put({ ...plain, status: 'PENDING' })
    expect(replaced.body.template).toMatchObject({ id: (made.body.template as { id: string }).id, status: 'PENDING' })
    expect((await list('?name=plain')).data).toMatchObject([{ status: 'PENDING' }])
    const account = { business_account_id: accountId }
    expect((await world.control('DELETE', '/templates', { ...account, name: 'plain' })).body).toEqual({
      success: true,
      removed: 1,
    })
    expect(await world.control('DELETE', '/templates', { ...account, name: 'plain', language: 'en' })).toMatchObject({
      status: 404,
      body: { error: 'Template not found' },
    })
    expect((await world.control('DELETE', '/templates', account)).body).toMatchObject({ removed: samples.length })
    expect((await list()).data).toEqual([])
  })

  it('in one language can be deleted without the others', async () => {
    await put(plain)
    await put({ ...plain, language: 'pt_BR' })
    await world.control('DELETE', '/templates', { phone_number_id: phoneNumberId, name: 'plain', language: 'en' })
    expect((await list('?name=plain')).data).toMatchObject([{ language: 'pt_BR' }])
  })

  it('keeps components and buttons of unknown kinds', async () => {
    const components = [
      ...plain.components,
      { type: 'CAROUSEL', cards: [] },
      { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Begin' }] },
    ]
    await put({ ...plain, components })
    expect((await list('?name=plain')).data).toMatchObject([{ components }])
  })

  it('is shown by the control, for one account or for all', async () => {
    await world.control('PUT', '/numbers/2', { ...registration(world.receiver.url), business_account_id: '5' })
    const all = await world.control('GET', '/templates')
    expect(all.body).toMatchObject({ success: true, total: 2 * samples.length })
    const narrowed = (await world.control('GET', '/templates?business_account_id=5')).body
    expect(narrowed).toMatchObject({
      total: 4,
      templates: [{ business_account_id: '5', name: 'hello_world' }, {}, {}, {}],
    })
    expect((await world.control('GET', `/templates?phone_number_id=${phoneNumberId}`)).body.total).toBe(4)
    await world.control('DELETE', '/numbers/2')
    expect((await world.control('GET', '/templates?business_account_id=5')).status).toBe(404)
  })

  it('is restored by a reset', async () => {
    await put(plain)
    await world.control('DELETE', '/templates', { phone_number_id: phoneNumberId, name: 'hello_world' })
    const before = (await list()).data
    await world.control('POST', '/reset')
    const { data } = await list()
    expect(data.map(({ name }) => name)).toEqual(samples)
    expect(data.slice(1)).toEqual(before.slice(0, -1))
  })

  it.each([
    [{ template: plain }, 400, 'phone_number_id (or business_account_id) is required'],
    [{ business_account_id: 7, template: plain }, 400, 'business_account_id must be a string'],
    [{ business_account_id: '7', template: plain }, 404, 'No business number of the account 7'],
    [{ phone_number_id: '7', template: plain }, 404, 'No business number 7'],
    [{ phone_number_id: phoneNumberId }, 400, 'template is required'],
    [{ phone_number_id: phoneNumberId, template: [] }, 400, 'template must be an object'],
  ])('is refused with %j', async (body, status, message) => {
    expect(await world.control('PUT', '/templates', body)).toMatchObject({
      status,
      body: { success: false, message: expect.stringContaining(message) },
    })
  })

  const body = (text: unknown) => ({ components: [{ type: 'BODY', text }] })
  const withHeader = (header: object) => ({ components: [...plain.components, { type: 'HEADER', ...header }] })
  const withButtons = (...buttons: object[]) => ({ components: [...plain.components, { type: 'BUTTONS', buttons }] })
  const url = (address: string) => withButtons({ type: 'URL', text: 'Go', url: address })

  it.each<[object, string]>([
    [{ name: 'Plain' }, 'template.name must be'],
    [{ language: 'Portuguese' }, 'template.language must be'],
    [{ language: 'xx' }, 'not "xx"'],
    [{ category: 'NEWS' }, 'template.category must be one of MARKETING, UTILITY, AUTHENTICATION'],
    [{ status: 'GOOD' }, 'template.status must be one of APPROVED'],
    [{ parameter_format: 'ODD' }, 'template.parameter_format must be one of NAMED, POSITIONAL'],
    [
      { ...body('{{name}}'), parameter_format: 'POSITIONAL' },
      '{{name}} is not a variable of a template that is POSITIONAL',
    ],
    [body('{{name}} {{1}}'), '{{1}} is not a variable of a template that is NAMED'],
    [{ components: {} }, 'template.components must be an array'],
    [{ components: [{ text: 'x' }] }, 'each with a type'],
    [{ components: [] }, 'must hold a BODY'],
    [{ components: [...plain.components, ...plain.components] }, 'one BODY only'],
    [body(''), 'the text of the BODY must be'],
    [body('x'.repeat(1025)), '1 to 1024 characters'],
    [withHeader({}), 'the HEADER must have a format'],
    [withHeader({ format: 'TEXT', text: 'x'.repeat(61) }), '1 to 60 characters'],
    [withHeader({ format: 'TEXT', text: '{{1}} {{2}}' }), 'may have one variable'],
    [withButtons(), '1 to 10 buttons'],
    [withButtons({ type: 'QUICK_REPLY', text: 'x'.repeat(26) }), 'the text of a QUICK_REPLY button'],
    [url('https://shop.example/{{1}}/x'), 'the url of a button'],
    [url('https://shop.example/{{code}}'), 'the url of a button'],
    [url('shop.example'), 'the url of a button'],
  ])('is refused if it differs by %j', async (change, message) => {
    expect(await put({ ...plain, ...change })).toMatchObject({
      status: 400,
      body: { error: 'Invalid field', message: expect.stringContaining(message) },
    })
    expect((await list()).data).toHaveLength(samples.length)
  })
})

describe("a template's status", () => {
  const hello = { phone_number_id: phoneNumberId, name: 'hello_world', language: 'en_US' }

  it('can be changed, and a callback for the account reports it', async () => {
    const { status, body } = await world.control('POST', '/templates/status', {
      ...hello,
      event: 'REJECTED',
      reason: 'INCORRECT_CATEGORY',
    })
    expect([status, body]).toEqual([200, expect.objectContaining({ success: true, delivered: true, status: 200 })])
    const [shown] = (await list('?name=hello_world&fields=status,rejected_reason')).data
    expect(shown).toEqual({ id: shown?.id, status: 'REJECTED', rejected_reason: 'INCORRECT_CATEGORY' })
    expect(world.receiver.envelopes()).toEqual([
      {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: accountId,
            changes: [
              {
                field: 'message_template_status_update',
                value: {
                  event: 'REJECTED',
                  message_template_id: Number(shown?.id),
                  message_template_name: 'hello_world',
                  message_template_language: 'en_US',
                  message_template_category: 'UTILITY',
                  reason: 'INCORRECT_CATEGORY',
                },
              },
            ],
          },
        ],
      },
    ])
  })

  it.each([
    ['PAUSED', 'PAUSED', null],
    ['APPROVED', 'APPROVED', 'NONE'],
    ['FLAGGED', 'APPROVED', null],
    ['REINSTATED', 'APPROVED', null],
  ])('is %s after %s', async (event, status, reason) => {
    const account = { business_account_id: accountId, name: 'hello_world', language: 'en_US' }
    await world.control('POST', '/templates/status', { ...account, event })
    expect((await list('?name=hello_world')).data).toMatchObject([{ status }])
    const [value] = world.receiver.values() as unknown as TemplateStatusValue[]
    expect(value).toMatchObject({ event, reason })
  })

  it.each([
    [{ name: undefined }, 400, 'name is required'],
    [{ language: undefined }, 400, 'language is required'],
    [{ event: undefined }, 400, 'event is required'],
    [{ event: 'LOST' }, 400, 'event must be one of APPROVED'],
    [{ reason: 7 }, 400, 'reason must be a string'],
    [{ language: 'pt_BR' }, 404, 'The account has no template hello_world in pt_BR'],
    [{ phone_number_id: undefined }, 400, 'phone_number_id (or business_account_id) is required'],
  ])('cannot be changed with %j', async (change, status, message) => {
    const answer = await world.control('POST', '/templates/status', { ...hello, event: 'PAUSED', ...change })
    expect(answer).toMatchObject({ status, body: { success: false, message: expect.stringContaining(message) } })
    expect(world.receiver.taken).toEqual([])
    expect((await list('?name=hello_world')).data).toMatchObject([{ status: 'APPROVED' }])
  })
})
