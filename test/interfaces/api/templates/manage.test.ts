import { beforeEach, describe, expect, it, vi } from 'vitest'
import { png } from '../../../support/media.js'
import { eventsOf } from '../../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

type Fields = Record<string, unknown>

const body = (text: string, example?: object) => ({ type: 'BODY', text, ...(example && { example }) })
const plain = { name: 'good_day', language: 'en', category: 'UTILITY', components: [body('Good day to you')] }
const image = (handle: string) => ({ type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } })

const request = (method: string, path: string, given?: unknown, { key } = organization) =>
  world.request(method, path, { key, ...(given === undefined ? {} : { body: given }) })
const create = (fields: Fields = {}, owner = organization) =>
  request('POST', '/templates', { ...plain, ...fields }, owner)
const edit = (fields: Fields, query = 'name=good_day&language=en') => request('PATCH', `/templates?${query}`, fields)
const list = async (owner = organization) => (await request('GET', '/templates', undefined, owner)).body.templates
const named = async (name: string, owner = organization) =>
  (await list(owner)).filter((one: { name: string }) => one.name === name)
const atUpstream = async (name: string) => {
  const { body } = await world.sim('GET', `/templates?phone_number_id=${organization.phoneNumberId}`)
  return body.templates.filter((one: { name: string }) => one.name === name)
}

/** WhatsApp's decision on a template, which is then known. */
async function decide(event: string, reason?: string) {
  const { phoneNumberId: phone_number_id } = organization
  const decision = { phone_number_id, name: 'good_day', language: 'en', event, ...(reason && { reason }) }
  expect((await world.sim('POST', '/templates/status', decision)).status).toBe(200)
  await world.settle()
}

const kinds = async (...types: string[]) => {
  const events = await Promise.all(types.map((type) => eventsOf(world, organization, type)))
  return events.flat().map(({ type, data }) => `${type} ${data.template.name} ${data.template.status}`)
}

describe('POST /templates', () => {
  it('creates a template at WhatsApp, which is sendable once it is approved', async () => {
    const created = await create()
    expect(created).toMatchObject({
      status: 201,
      body: { success: true, template: { ...plain, status: 'PENDING', id: expect.stringMatching(/^\d+$/) } },
    })
    expect(await atUpstream('good_day')).toMatchObject([{ ...plain, status: 'PENDING' }])
    const send = { templateName: 'good_day', chatNumber: '5511987650001', bodyParameters: { name: 'Ana' } }
    expect((await request('POST', '/send-template', send)).body.error).toBe('Template not found')
    await decide('APPROVED')
    expect((await request('POST', '/send-template', send)).body.success).toBe(true)
    expect(await kinds('template.status_changed')).toEqual([
      'template.status_changed good_day PENDING',
      'template.status_changed good_day APPROVED',
    ])
  })

  it.each([
    [{ name: 'Good day' }, 'name may have only the letters a to z, digits and _'],
    [{ components: [body('a'.repeat(1_025))] }, 'components[0].text must have at most 1024 characters'],
    [{ category: 'NEWS' }, 'category must be one of AUTHENTICATION, MARKETING, UTILITY'],
  ])('refuses %j before anything is sent', async (fields, message) => {
    expect(await create(fields)).toMatchObject({ status: 400, body: { error: 'Invalid field', message } })
    expect(await atUpstream('good_day')).toEqual([])
  })

  it.each(['name', 'category', 'components'])('names %s if it is missing', async (field) => {
    const refused = await create({ [field]: null })
    expect(refused).toMatchObject({ status: 400, body: { error: 'Missing required field' } })
    expect(refused.body.message).toContain(field)
  })

  it('refuses a name and language that exist', async () => {
    await create()
    expect(await create()).toMatchObject({ status: 409, body: { error: 'Already taken' } })
    expect((await create({ language: 'pt_BR' })).status).toBe(201)
  })

  it('passes on what WhatsApp says of a refusal', async () => {
    const components = [body('Hi {{1}}{{2}}{{3}}, Ana', { body_text: [['a', 'b', 'c']] })]
    expect(await create({ components })).toMatchObject({
      status: 400,
      body: {
        error: 'Upstream rejected template',
        message: expect.stringContaining('too many variables'),
        upstream_code: 100,
        upstream_subcode: 2388293,
      },
    })
  })

  it('answers a repeated request with the first template', async () => {
    const options = { key: organization.key, body: plain, headers: { 'idempotency-key': 'once' } }
    const first = await world.request('POST', '/templates', options)
    const again = await world.request('POST', '/templates', options)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  it('finds a template whose creation was not answered', async () => {
    const given = { ...plain, name: 'lost_000005' }
    const options = { key: organization.key, body: given, headers: { 'idempotency-key': 'lost' } }
    expect(await world.request('POST', '/templates', options)).toMatchObject({
      status: 500,
      body: { error: 'Outcome unknown', retryable: false },
    })
    const again = await world.request('POST', '/templates', options)
    expect(again).toMatchObject({ status: 201, body: { template: { ...given, status: 'PENDING' } } })
    expect(await atUpstream('lost_000005')).toHaveLength(1)
  })

  it('copies a template to another language, with its example file', async () => {
    const { body: uploaded } = await upload(png())
    expect(uploaded).toMatchObject({ success: true, format: 'IMAGE' })
    await create({ components: [image(uploaded.handle), body('Good day to you')] })
    const copied = await create({
      ...{ name: null, category: null, components: null },
      language: 'pt_BR',
      copy_of: { name: 'good_day', language: 'en' },
    })
    expect(copied.body.template).toMatchObject({ name: 'good_day', language: 'pt_BR', category: 'UTILITY' })
    const [header] = copied.body.template.components
    expect(header.example.header_handle[0]).toMatch(/^http/)
    expect(await atUpstream('good_day')).toHaveLength(2)
  })

  it.each(['COPY_CODE', 'ONE_TAP'])(
    'copies an authentication template with a button %s if it can',
    async (otp_type) => {
      const apps = { supported_apps: [{ package_name: 'com.example.shop', signature_hash: 'abcdefghijk' }] }
      const button = { type: 'OTP', otp_type, text: 'Copy it', ...(otp_type === 'ONE_TAP' && apps) }
      const components = [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 5 },
        { type: 'BUTTONS', buttons: [button] },
      ]
      expect((await create({ category: 'AUTHENTICATION', components })).status).toBe(201)
      const copied = await request('POST', '/templates', {
        language: 'pt_BR',
        copy_of: { name: 'good_day', language: 'en' },
      })
      if (otp_type === 'ONE_TAP') {
        expect(copied).toMatchObject({ status: 400, body: { error: 'Missing required field' } })
        expect(copied.body.message).toContain('components')
        return
      }
      expect(copied).toMatchObject({ status: 201, body: { template: { category: 'AUTHENTICATION' } } })
      const fixed = [{ add_security_recommendation: true }, { code_expiration_minutes: 5 }]
      expect(copied.body.template.components).toMatchObject([...fixed, { buttons: [{ text: 'Copy code' }] }])
    },
  )

  it('gives WhatsApp its whole time, however long the example files take', async () => {
    const { body: uploaded } = await upload(png())
    await create({ components: [image(uploaded.handle), body('Good day to you')] })
    const { upstream } = world.app.ctx
    const { uploadExample, createTemplate } = upstream
    const now = performance.now.bind(performance)
    const times: number[] = []
    upstream.uploadExample = async (...given) => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
      return uploadExample(...given)
    }
    upstream.createTemplate = (account, fields, timeoutMs) => {
      times.push(timeoutMs)
      return createTemplate(account, fields, timeoutMs)
    }
    const copy = { language: 'pt_BR', copy_of: { name: 'good_day', language: 'en' } }
    const copied = await request('POST', '/templates', copy)
    Object.assign(upstream, { uploadExample, createTemplate })
    vi.restoreAllMocks()
    expect([copied.status, times]).toEqual([201, [expect.closeTo(25_000, -3)]])
  })

  it.each([
    ['PENDING', 'choose another name or language'],
    ['PAUSED', 'PATCH /templates'],
    ['PENDING_DELETION', 'its deletion is under way'],
  ])('says what to do about one that is %s', async (status, cure) => {
    await create()
    if (status !== 'PENDING') await decide(status)
    expect((await create()).body.message).toContain(cure)
  })

  it('takes no deleted template for the one whose creation was not answered', async () => {
    const given = { ...plain, name: 'lost_000005' }
    const options = { key: organization.key, body: given, headers: { 'idempotency-key': 'lost-again' } }
    await world.request('POST', '/templates', options)
    const text = `UPDATE templates SET status = 'DELETED' WHERE organization_id = $1 AND name = 'lost_000005'`
    await world.settle()
    await world.database.pool.query(text, [organization.id])
    const again = await world.request('POST', '/templates', options)
    expect(again.body.template?.status).not.toBe('DELETED')
  })

  it('takes a template of the library, which is approved at once', async () => {
    const library = await request('GET', '/templates/library?language=pt_BR&topic=ORDER_MANAGEMENT')
    const [one] = library.body.templates
    const created = await create({
      ...{ components: null, language: one.language, library_template_name: one.name },
      library_template_button_inputs: [
        { type: 'URL', url: { base_url: 'https://shop.example/{{1}}', url_suffix_example: 'https://shop.example/7' } },
      ],
    })
    expect(created).toMatchObject({ status: 201, body: { template: { name: 'good_day', status: 'APPROVED' } } })
    expect(created.body.template.components).toContainEqual(expect.objectContaining({ type: 'BODY', text: one.body }))
  })

  it('refuses a template to copy that another organization has', async () => {
    const other = await world.createOrganization()
    await create({}, other)
    const { components: _, ...rest } = plain
    const copy = { ...rest, language: 'pt_BR', copy_of: { name: 'good_day', language: 'en' } }
    expect(await request('POST', '/templates', copy)).toMatchObject({
      status: 400,
      body: { error: 'Template not found' },
    })
  })
})

describe('POST /templates/check', () => {
  it('lists everything that is wrong, and creates nothing', async () => {
    const footer = { type: 'FOOTER', text: 'Bye {{1}}' }
    const checked = await request('POST', '/templates/check', {
      ...plain,
      name: 'Good day',
      language: 'xx',
      components: [body('{{1}} hello'), footer],
    })
    expect(checked).toMatchObject({ status: 200, body: { success: true } })
    expect(checked.body.faults).toMatchObject([
      { field: 'name', sentence: { code: 'template_name' } },
      { field: 'language', message: expect.stringContaining('language "xx" is not one of the languages') },
      { field: 'components[0].text', message: expect.stringContaining('{{1}}') },
      { field: 'components[1].text', sentence: { code: 'no_variables', values: { given: '{{1}}' } } },
    ])
    expect((await request('POST', '/templates/check', plain)).body.faults).toEqual([])
    expect(await atUpstream('good_day')).toEqual([])
  })
})

describe('PATCH /templates', () => {
  it('replaces the components, and raises template.updated', async () => {
    await create()
    await decide('REJECTED', 'INVALID_FORMAT')
    expect(await named('good_day')).toMatchObject([{ status: 'REJECTED', rejected_reason: 'INVALID_FORMAT' }])
    const edited = await edit({ components: [body('Good night to you')], category: 'MARKETING' })
    expect(edited).toMatchObject({
      status: 200,
      body: {
        template: {
          ...{ status: 'PENDING', category: 'MARKETING', rejected_reason: null },
          components: [body('Good night to you')],
        },
      },
    })
    expect(await atUpstream('good_day')).toMatchObject([{ components: [body('Good night to you')] }])
    expect(await kinds('template.updated')).toEqual(['template.updated good_day PENDING'])
  })

  it('takes one edit of an approved template in a day, and passes on that WhatsApp refuses the next', async () => {
    await create()
    await decide('APPROVED')
    expect((await edit({ components: [body('Good night to you')] })).status).toBe(200)
    await decide('APPROVED')
    expect(await edit({ components: [body('Good day again')] })).toMatchObject({
      status: 400,
      body: { error: 'Upstream rejected template', message: expect.stringContaining('24 hours') },
    })
  })

  it('refuses an edit that the status does not allow, without a call', async () => {
    await create()
    expect(await edit({ components: [body('Good night to you')] })).toMatchObject({
      status: 409,
      body: { error: 'Invalid template state', message: expect.stringContaining('PENDING') },
    })
    await decide('APPROVED')
    expect(await edit({ category: 'MARKETING' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('category') },
    })
  })

  it('sends WhatsApp nothing if nothing is to change', async () => {
    await create()
    await decide('REJECTED')
    const { upstream } = world.app.ctx
    const { editTemplate } = upstream
    upstream.editTemplate = () => Promise.reject(new Error('called'))
    const edited = await edit({ category: 'UTILITY' })
    upstream.editTemplate = editTemplate
    expect(edited).toMatchObject({ status: 200, body: { template: { status: 'REJECTED', category: 'UTILITY' } } })
  })

  it('refuses a fault, an empty edit and an unknown template', async () => {
    await create()
    await decide('REJECTED')
    expect((await edit({ components: [] })).body.message).toBe('components must have a part of the type BODY')
    expect((await edit({})).body.error).toBe('Missing required field')
    const unknown = await edit({ category: 'MARKETING' }, 'name=unknown&language=en')
    expect(unknown).toMatchObject({ status: 400, body: { error: 'Template not found' } })
  })

  it("does not reach another organization's template", async () => {
    const other = await world.createOrganization()
    await create({}, other)
    expect((await edit({ category: 'MARKETING' })).body.error).toBe('Template not found')
    expect(await named('good_day', other)).toMatchObject([{ category: 'UTILITY' }])
  })
})

describe('DELETE /templates', () => {
  it('deletes one language, and then all', async () => {
    for (const language of ['en', 'pt_BR', 'es']) await create({ language })
    expect((await request('DELETE', '/templates?name=good_day&language=es')).body.languages).toEqual(['es'])
    expect((await named('good_day')).map(({ language }: { language: string }) => language)).toEqual(['en', 'pt_BR'])
    expect((await request('DELETE', '/templates?name=good_day')).body.languages).toEqual(['en', 'pt_BR'])
    expect([...(await named('good_day')), ...(await atUpstream('good_day'))]).toEqual([])
    await world.settle()
    expect(await named('good_day')).toEqual([])
    expect((await kinds('template.status_changed')).filter((line) => line.endsWith('DELETED'))).toHaveLength(3)
  })

  it('learns from a refusal that the template is gone', async () => {
    await create()
    await world.settle()
    await world.sim('DELETE', '/templates', { phone_number_id: organization.phoneNumberId, name: 'good_day' })
    expect((await request('DELETE', '/templates?name=good_day&language=en')).status).toBe(400)
    await world.settle()
    expect(await named('good_day')).toEqual([])
  })

  it('refuses a disabled one and an unknown one', async () => {
    await create()
    await decide('DISABLED')
    expect(await request('DELETE', '/templates?name=good_day')).toMatchObject({
      status: 409,
      body: { error: 'Invalid template state' },
    })
    expect((await request('DELETE', '/templates?name=unknown')).body.error).toBe('Template not found')
  })

  it("does not reach another organization's template", async () => {
    const other = await world.createOrganization()
    await create({}, other)
    expect((await request('DELETE', '/templates?name=good_day')).body.error).toBe('Template not found')
    expect(await named('good_day', other)).toHaveLength(1)
  })
})

describe('a template that was paused', () => {
  it('shows until when, as long as it is paused', async () => {
    await create()
    await decide('APPROVED')
    await decide('PAUSED', 'FIRST_PAUSE')
    const [paused] = await named('good_day')
    expect(paused).toMatchObject({ status: 'PAUSED', rejected_reason: null, paused_until: expect.any(String) })
    await request('POST', '/templates/sync')
    expect((await named('good_day'))[0].paused_until).toBe(paused.paused_until)
    await decide('APPROVED')
    expect(await named('good_day')).toMatchObject([{ status: 'APPROVED', paused_until: null }])
  })
})

describe('POST /templates/examples', () => {
  it('refuses a file of another type', async () => {
    expect(await upload(new TextEncoder().encode('hello'))).toMatchObject({
      status: 400,
      body: { error: 'Invalid media' },
    })
  })
})

/** Posts a file as an example. */
async function upload(bytes: Uint8Array) {
  const response = await fetch(`${world.app.url}/templates/examples`, {
    method: 'POST',
    headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: (await response.json()) as { handle: string } }
}
