import { beforeAll, describe, expect, it } from 'vitest'
import { sendDueMessage } from '../../../../src/core/scheduled/send-due.js'
import { contact } from '../../../support/contacts.js'
import { inTime, LATER_MS, passTime } from '../../../support/scheduled.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startTemplateWorld)

beforeAll(async () => {
  await at.putTemplate({ name: 'ola_nome', body: 'Olá, {{name}}!' })
  await at.putTemplate({ name: 'com_arquivo', body: 'Segue o arquivo.', header: { format: 'DOCUMENT' } })
  await at.putTemplate({ name: 'promo', body: 'Promo', category: 'MARKETING' })
  const offer = { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Hoje', has_expiration: true } }
  await at.putTemplate({ name: 'offer', body: 'Olá', others: [offer] })
  await at.putTemplate({ name: 'products', body: 'Olá', buttons: [{ type: 'MPM', text: 'Ver' }] })
  await at.putTemplate({ name: 'form', body: 'Olá', buttons: [{ type: 'FLOW', text: 'Responder', flow_id: '123' }] })
  const card = {
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Olá' },
    ],
  }
  await at.putTemplate({ name: 'cards', body: 'Olá', others: [{ type: 'CAROUSEL', cards: [card, card] }] })
  await at.putTemplate({ name: 'code', category: 'AUTHENTICATION', body: 'O seu código é {{1}}' })
  await at.putTemplate({ name: 'promo_dois', body: 'Promo dois', category: 'MARKETING' })
})

const ORDER = { templateName: 'pedido_enviado', bodyParameters: { '1': '{{first_name}}', '2': '1042' } }

const later = (fields: object) => at.send({ ...ORDER, scheduled_at: inTime(at.world), ...fields })

describe('POST /send-template with scheduled_at', () => {
  it('answers 202, and sends the template as it is filled then', async () => {
    const digits = await at.newContact({ full_name: 'Ana Souza' })
    const answer = await later({ chatNumber: `+${digits}` })
    expect(answer).toMatchObject({
      status: 202,
      body: {
        success: true,
        scheduled: {
          status: 'scheduled',
          chat_id: digits,
          message: 'Olá, Ana! O seu pedido 1042 foi enviado.',
          message_type: 'template',
          templateName: 'pedido_enviado',
          language: 'pt_BR',
        },
      },
    })
    await at.expectNothingSent(digits)
    const { key } = at.organization
    await at.world.request('PATCH', `/contact?chat_id=${digits}`, { key, body: { full_name: 'Bia Lima' } })
    await passTime(at.world)
    expect(await at.shown(digits)).toMatchObject([
      { id: answer.body.scheduled.id, message: 'Olá, Bia! O seu pedido 1042 foi enviado.', message_status: 'sent' },
    ])
    // It counts as a one-off send under the same id.
    const single = await at.read(`/broadcasts/${answer.body.scheduled.id}`)
    expect(single.body.broadcast).toMatchObject({ totalRecipients: 1, templateName: 'pedido_enviado' })
  })

  it('makes an unknown number a contact at once', async () => {
    const digits = at.newNumber()
    const bodyParameters = { ...ORDER.bodyParameters, name: 'Caio' }
    const answer = await later({
      templateName: 'ola_nome',
      chatNumber: digits,
      bodyParameters: { name: bodyParameters.name },
    })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    expect((await contact(at.world, at.organization, digits)).body.contact.full_name).toBe('Caio')
    await passTime(at.world)
    expect(await at.arrived(digits)).toHaveLength(1)
  })

  it('keeps the file of the header', async () => {
    const digits = await at.newContact()
    const headerMedia = at.fileUrl('pdf', 'tabela.pdf')
    const answer = await later({ templateName: 'com_arquivo', chatNumber: digits, bodyParameters: {}, headerMedia })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    expect(answer.body.scheduled.media_type).toBe('document')
    await passTime(at.world)
    const [{ payload }] = await at.arrived(digits)
    expect(payload.template.components).toMatchObject([
      { type: 'header', parameters: [{ type: 'document', document: { filename: 'tabela.pdf' } }] },
    ])
    expect((await at.shown(digits))[0]).toMatchObject({ media_type: 'document', media_url: expect.any(String) })
  })

  it.each([
    ['offer', { offerEndsAt: '2030-12-01T09:00:00-03:00' }],
    ['products', { productSections: [{ product_ids: ['mug-blue', 'mug-red'] }] }],
    ['form', { flow: { token: 'visit-17', data: { shop: 'north' } } }],
    ['cards', { cards: ['blue', 'red'].map((name) => ({ headerMedia: `https://shop.example/${name}.jpg` })) }],
  ])('keeps what fills the parts of a template: %s', async (templateName, parts) => {
    const template = { templateName, bodyParameters: {}, ...parts }
    const now = await at.sent({ ...template, chatNumber: await at.newContact() })
    const digits = await at.newContact()
    const answer = await later({ ...template, chatNumber: digits })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    await passTime(at.world)
    const [{ payload }] = await at.arrived(digits)
    expect(payload.template.components).toEqual(now.components)
  })

  it('is refused for an offer that ends before it is sent, also when its time is changed', async () => {
    const offer = { templateName: 'offer', bodyParameters: {}, chatNumber: await at.newContact() }
    const ended = { ...offer, offerEndsAt: inTime(at.world, LATER_MS / 2) }
    expect(expectRefusal(await later(ended), 'Invalid field')).toMatch(/^The offer ends before it is sent/)
    const answer = await later({ ...offer, offerEndsAt: inTime(at.world, 2 * LATER_MS) })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    const { key } = at.organization
    const change = (scheduled_at: string) =>
      at.world.request('PATCH', `/scheduled/${answer.body.scheduled.id}`, { key, body: { scheduled_at } })
    expect(expectRefusal(await change(inTime(at.world, 3 * LATER_MS)), 'Invalid field')).toMatch(/^The offer ends/)
    expect((await change(inTime(at.world, LATER_MS / 2))).status).toBe(200)
  })

  it('is refused now if the template needs a number and the person has none', async () => {
    const user_id = 'US.70000000000000009001'
    const { key } = at.organization
    expect((await at.world.request('POST', '/contact', { key, body: { user_id } })).status).toBe(201)
    const code = { templateName: 'code', bodyParameters: { param1: '1234' }, to_user_id: user_id }
    expect(expectRefusal(await later(code), 'Invalid field')).toMatch(/^to_user_id .*authentication/)
  })

  it('is refused now for what can be checked now', async () => {
    const digits = await at.newContact()
    expectRefusal(await later({ chatNumber: digits, templateName: 'nao_existe' }), 'Template not found')
    expectRefusal(await later({ chatNumber: digits, bodyParameters: { '1': 'Ana' } }), 'Missing required field')
    expectRefusal(await later({ chatNumber: at.newNumber() }), 'Contact not found')
    const unwilling = await at.newContact({ allow_broadcast: false })
    const promo = { templateName: 'promo', bodyParameters: {}, chatNumber: unwilling }
    expectRefusal(await later(promo), 'Contact opted out')
    await at.expectNothingSent(digits)
  })

  it('is answered once for an Idempotency-Key, when its time is long past, too', async () => {
    const body = { ...ORDER, chatNumber: await at.newContact(), scheduled_at: inTime(at.world) }
    const first = await at.send(body, 'template-later')
    await passTime(at.world, 2 * LATER_MS)
    expect((await at.send(body, 'template-later')).body).toEqual(first.body)
    expect(await at.arrived(body.chatNumber)).toHaveLength(1)
  })

  it('is sent although an earlier attempt could not record that it failed', async () => {
    const digits = await at.newContact()
    const promo = { templateName: 'promo', bodyParameters: {}, chatNumber: digits }
    const { id } = (await later(promo)).body.scheduled
    const { key } = at.organization
    const allow = (allow_broadcast: boolean) =>
      at.world.request('PATCH', `/contact?chat_id=${digits}`, { key, body: { allow_broadcast } })
    await allow(false)
    const { pool } = at.world.database
    await pool.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''lost''; END'`)
    await pool.query('CREATE TRIGGER fail BEFORE UPDATE ON contacts FOR EACH ROW EXECUTE FUNCTION fail()')
    at.world.advance(LATER_MS)
    const run = () => sendDueMessage(at.world.app.ctx, at.organization.id, id, new AbortController().signal)
    await expect(run()).rejects.toThrow('lost')
    await pool.query('DROP FUNCTION fail CASCADE')
    await allow(true)
    expect(await run()).toBeNull()
    expect(await at.arrived(digits)).toHaveLength(1)
    expect(await at.shown(digits)).toMatchObject([{ id, message_status: 'sent' }])
  })

  it('makes no contact if too many wait', async () => {
    const digits = at.newNumber()
    const { id } = (await later({ chatNumber: await at.newContact() })).body.scheduled
    const { pool } = at.world.database
    await pool.query('UPDATE scheduled_messages SET size = $2 WHERE id = $1', [id, 2 ** 31])
    const answer = await later({ templateName: 'ola_nome', chatNumber: digits, bodyParameters: { name: 'Caio' } })
    expectRefusal(answer, 'Too many scheduled messages', 409)
    expect((await contact(at.world, at.organization, digits)).status).toBe(404)
    await at.world.request('DELETE', `/scheduled/${id}`, { key: at.organization.key })
  })

  it('fails in the conversation if the contact opts out meanwhile, or the template is paused', async () => {
    const leaving = await at.newContact()
    const promo = await later({ templateName: 'promo_dois', bodyParameters: {}, chatNumber: leaving })
    const { key } = at.organization
    await at.world.request('PATCH', `/contact?chat_id=${leaving}`, { key, body: { allow_broadcast: false } })
    await passTime(at.world)
    expect(await at.arrived(leaving)).toEqual([])
    expect(await at.shown(leaving)).toMatchObject([
      {
        id: promo.body.scheduled.id,
        message: 'Promo dois',
        message_type: 'template',
        message_status: 'failed',
        error: { code: 'contact_opted_out' },
      },
    ])

    const digits = await at.newContact()
    await later({ chatNumber: digits })
    const paused = { phone_number_id: at.organization.phoneNumberId, name: 'pedido_enviado', language: 'pt_BR' }
    await at.world.sim('POST', '/templates/status', { ...paused, event: 'PAUSED' })
    await at.world.settle()
    await passTime(at.world)
    expect(await at.arrived(digits)).toEqual([])
    expect(await at.shown(digits)).toMatchObject([{ message_status: 'failed', error: { code: 'template_not_found' } }])
  })
})
