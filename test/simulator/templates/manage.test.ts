import { beforeEach, describe, expect, it } from 'vitest'
import type { TemplateStatusValue } from '../../../src/upstream/wire.js'
import { type Answer, accessToken, call, phoneNumberId, useWorld } from '../../support/simulator.js'

const accountId = '419561257915477'
const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/reset')
  world.receiver.taken.length = 0
})

type Fields = Record<string, unknown>

const url = (path: string) => `${world.simulator.upstreamUrl}/${path}`
const create = (fields: Fields = {}, token: string | null = accessToken) =>
  call('POST', url(`${accountId}/message_templates`), { ...plain, ...fields }, token)
const edit = (id: unknown, fields: Fields) => call('POST', url(String(id)), fields, accessToken)
const remove = (query: string) => call('DELETE', url(`${accountId}/message_templates?${query}`), undefined, accessToken)
const show = (id: unknown) =>
  call('GET', url(`${id}?fields=name,status,category,components,parameter_format`), undefined, accessToken)
const setStatus = (event: string, name = 'plain') =>
  world.control('POST', '/templates/status', { phone_number_id: phoneNumberId, name, language: 'en', event })

const body = (text: string, example?: object) => ({ type: 'BODY', text, ...(example && { example }) })
const plain = { name: 'plain', language: 'en', category: 'UTILITY', components: [body('Good day to you')] }
const buttons = (...given: object[]) => [body('Good day to you'), { type: 'BUTTONS', buttons: given }]

/** The texts of a refusal. */
const refusalOf = ({ status, body: { error } }: Answer) => {
  const { code, error_subcode, error_user_msg } = error as Fields
  return { status, code, subcode: error_subcode, text: error_user_msg }
}

/** Uploads an example file; resolves to its handle. */
async function upload(bytes: Uint8Array<ArrayBuffer>, type = 'image/png'): Promise<string> {
  const app = await call('GET', url('app'), undefined, accessToken)
  const session = await call(
    'POST',
    url(`${app.body.id}/uploads?file_name=a&file_length=${bytes.length}&file_type=${type}`),
    undefined,
    accessToken,
  )
  expect(session.body.id).toMatch(/^upload:/)
  const headers = { authorization: `OAuth ${accessToken}`, file_offset: '0' }
  const response = await fetch(url(String(session.body.id)), { method: 'POST', headers, body: bytes })
  const answer = (await response.json()) as { h: string }
  return answer.h
}

describe('creating a template', () => {
  it('keeps it for review, and lists it', async () => {
    const created = await create({ category: 'utility', components: [{ type: 'body', text: 'Good day to you' }] })
    expect(created).toEqual({
      status: 200,
      body: { id: expect.stringMatching(/^\d+$/), status: 'PENDING', category: 'UTILITY' },
    })
    expect((await show(created.body.id)).body).toMatchObject({ name: 'plain', components: [body('Good day to you')] })
  })

  it('approves it with the setting approve_templates, and reports that', async () => {
    await world.control('POST', '/settings', { approve_templates: true })
    expect((await create()).body.status).toBe('APPROVED')
    await world.idle()
    const [envelope] = world.receiver.envelopes()
    const value = envelope?.entry[0]?.changes[0]?.value as TemplateStatusValue
    expect(value).toMatchObject({ event: 'APPROVED', message_template_name: 'plain' })
    await world.control('POST', '/settings', { approve_templates: false })
  })

  it.each([
    ['a name with capitals', { name: 'Plain' }, undefined],
    ['an unknown category', { category: 'NEWS' }, undefined],
    ['a long body', { components: [body('a'.repeat(1_025))] }, undefined],
    ['a variable at the end', { components: [body('Hi {{1}}', { body_text: [['Ana']] })] }, 2388299],
    ['a variable without an example', { components: [body('Hi {{1}}, good day')] }, undefined],
    [
      'too many variables',
      { components: [body('Hi {{1}}{{2}}{{3}}, Ana', { body_text: [['a', 'b', 'c']] })] },
      2388293,
    ],
    ['numbers that do not follow', { components: [body('Hi {{2}} there', { body_text: [['a', 'b']] })] }, undefined],
    ['a footer with a variable', { components: [body('Hi there'), { type: 'FOOTER', text: 'Bye {{1}}' }] }, 2388073],
    ['an image without a handle', { components: [{ type: 'HEADER', format: 'IMAGE' }, body('Hi')] }, 2388047],
    [
      'quick replies apart',
      {
        components: buttons(
          { type: 'QUICK_REPLY', text: 'a' },
          { type: 'URL', text: 'b', url: 'https://example.com' },
          { type: 'QUICK_REPLY', text: 'c' },
        ),
      },
      undefined,
    ],
    ['a carousel in a utility template', { components: [body('Hi'), { type: 'CAROUSEL', cards: [] }] }, undefined],
    ['a time to live beyond the category', { message_send_ttl_seconds: 43_201 }, undefined],
    ['an authentication template with a text', { category: 'AUTHENTICATION' }, undefined],
  ])('refuses %s', async (_, fields, subcode) => {
    const refusal = refusalOf(await create(fields))
    expect(refusal).toMatchObject({ status: 400, code: 100, text: expect.any(String) })
    expect(refusal.subcode).toBe(subcode)
  })

  it('refuses a second one of the same name and language, and another token', async () => {
    await create()
    expect(refusalOf(await create()).subcode).toBe(2388024)
    expect((await create({ language: 'pt_BR' })).status).toBe(200)
    expect((await create({ name: 'other' }, 'wrong')).status).toBe(401)
  })

  it('takes the handle of an uploaded file, and lists its address', async () => {
    const handle = await upload(new Uint8Array([1, 2, 3]))
    const header = { type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } }
    const { body: created } = await create({ components: [header, body('Good day')] })
    const shown = (await show(created.id)).body as { components: { example: { header_handle: string[] } }[] }
    const address = String(shown.components[0]?.example.header_handle[0])
    expect(address).toMatch(/^http/)
    expect(new Uint8Array(await (await fetch(address)).arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]))
  })

  it('writes an authentication template out', async () => {
    const components = [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
    ]
    const { body: created } = await create({ category: 'AUTHENTICATION', components })
    expect((await show(created.id)).body).toMatchObject({
      components: [{ text: expect.stringContaining('{{1}}') }, { buttons: [{ type: 'URL' }] }],
    })
  })
})

describe('the library', () => {
  it('is listed in pages, and filtered', async () => {
    const list = async (query: string) => {
      const answer = await call('GET', url(`message_template_library?${query}`), undefined, accessToken)
      return answer.body as { data: { name: string }[]; paging?: { next: string } }
    }
    const first = await list('limit=1&topic=ORDER_MANAGEMENT')
    expect(first.data).toHaveLength(1)
    const next = await call('GET', String(first.paging?.next), undefined, accessToken)
    expect((next.body.data as object[])[0]).not.toEqual(first.data[0])
    expect((await list('search=due')).data.map(({ name }) => name)).toEqual(['payment_is_due'])
  })

  it('makes templates that are approved at once, with an input for each button', async () => {
    const { components: _, ...rest } = plain
    const library = { ...rest, name: 'mine', language: 'en_US', library_template_name: 'parcel_on_its_way' }
    const inputs = [
      { type: 'URL', url: { base_url: 'https://example.com/{{1}}', url_suffix_example: 'https://example.com/1' } },
    ]
    const post = (fields: object) => call('POST', url(`${accountId}/message_templates`), fields, accessToken)
    expect(refusalOf(await post(library)).text).toContain('library_template_button_inputs')
    const created = await post({ ...library, library_template_button_inputs: inputs })
    expect(created.body.status).toBe('APPROVED')
  })
})

describe('editing a template', () => {
  it('replaces its components, and reviews it again', async () => {
    const { body: created } = await create()
    await setStatus('REJECTED')
    expect(await edit(created.id, { components: [body('Good night to you')], category: 'MARKETING' })).toEqual({
      status: 200,
      body: { success: true },
    })
    expect((await show(created.id)).body).toMatchObject({
      status: 'PENDING',
      category: 'MARKETING',
      components: [body('Good night to you')],
    })
  })

  it('is refused while it is reviewed, and once a day when it is approved', async () => {
    const { body: created } = await create()
    const again = () => edit(created.id, { components: [body('Good night to you')] })
    expect(refusalOf(await again()).text).toContain('APPROVED')
    await setStatus('APPROVED')
    expect(refusalOf(await edit(created.id, { category: 'MARKETING' })).text).toContain('category')
    expect((await again()).status).toBe(200)
    await setStatus('APPROVED')
    expect(refusalOf(await again()).text).toContain('24 hours')
  })
})

describe('deleting a template', () => {
  it('deletes one language or all, and takes the name for a while', async () => {
    const { body: english } = await create()
    await create({ language: 'pt_BR' })
    await setStatus('APPROVED')
    expect((await remove(`name=plain&hsm_id=${english.id}`)).body).toEqual({ success: true })
    expect((await show(english.id)).status).toBe(400)
    expect((await create()).status).toBe(200)
    await setStatus('APPROVED')
    expect((await remove('name=plain')).body).toEqual({ success: true })
    expect(refusalOf(await create()).subcode).toBe(2388023)
  })

  it('is refused for a disabled one, and an unknown one', async () => {
    await create()
    await setStatus('DISABLED')
    expect((await remove('name=plain')).status).toBe(400)
    expect((await remove('name=unknown')).status).toBe(400)
  })
})
