import { beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../support/rows/events.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'
import type { Answer } from '../../../support/world.js'

const template = useStarted(() => startTemplateWorld({ PARLEY_UPSTREAM_TIMEOUT_MS: '300' }))

beforeAll(async () => {
  await template.world.sim('POST', '/settings', { slow_ms: 1_000, statuses: false })
})

const send = (chatNumber: string, key?: string, bodyParameters = { 1: 'Ana', 2: '1042' }) =>
  template.send({ templateName: 'pedido_enviado', chatNumber, bodyParameters }, key)

/** Expects a 200 that reports the failure, and this status for the only recipient of the send's broadcast. */
async function expectFailure(answer: Answer, error: RegExp, status: string): Promise<void> {
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    success: false,
    summary: { total: 1, successful: 0, failed: 1 },
    results: [
      {
        contactId: expect.any(String),
        contactName: expect.any(String),
        success: false,
        messageId: null,
        error: answer.body.error,
      },
    ],
    error: expect.stringMatching(error),
    broadcastId: expect.any(String),
  })
  const { recipients } = (await template.read(`/broadcasts/${answer.body.broadcastId}/recipients`)).body
  expect(recipients).toMatchObject([{ status, contactId: answer.body.results[0].contactId }])
}

describe('a refusal by the upstream', () => {
  it.each([
    ['000001', /undeliverable/i, 131026],
    ['000002', /24 hours|re-engagement/i, 131047],
  ])('of a number ending in %s returns 200 with success false', async (magic, error, code) => {
    const digits = await template.newMagicContact(magic, { full_name: 'Ana' })
    const answer = await send(digits)
    await expectFailure(answer, error, 'failed')
    expect(await template.shown(digits)).toMatchObject([
      { message: 'Olá, Ana! O seu pedido 1042 foi enviado.', message_status: 'failed', error: { code } },
    ])
    const events = await eventsOf(template.world, template.organization, 'message.failed')
    expect(events.filter(({ data }) => data.contact.chat_id === digits)).toHaveLength(1)
    const [{ id }] = await template.shown(digits)
    await expect
      .poll(async () => (await template.read(`/messages/${id}/trace`)).body.trace.entries)
      .toContainEqual(
        expect.objectContaining({ kind: 'failure_answered', http_status: 200, text: expect.stringMatching(error) }),
      )
  })

  it('of its credentials returns 200 with success false', async () => {
    const { world, organization } = template
    const digits = await template.newContact()
    await send(digits)
    const url = `/numbers/${organization.phoneNumberId}`
    const number = { app_secret: organization.appSecret, callback_url: `${world.app.url}/hooks/upstream` }
    const account = { business_account_id: organization.businessAccountId }
    await world.sim('PUT', url, { ...number, ...account, access_token: 'another' })
    const answer = await send(digits, 'credentials')
    await world.sim('PUT', url, { ...number, ...account })
    await expectFailure(answer, /^Upstream credentials rejected: ./, 'failed')
    const again = await send(digits, 'credentials')
    expect([again.headers.get('idempotent-replayed'), again.body.success]).toEqual([null, true])
  })

  it('because the person wants no marketing (131050) opts the contact out', async () => {
    const digits = await template.newContact()
    await template.putTemplate({ name: 'promo', category: 'MARKETING', body: 'Promo' })
    await template.world.request('POST', '/templates/sync', { key: template.organization.key })
    await template.world.sim('PUT', `/recipients/${digits}`, { code: 131050 })
    const promo = () => template.send({ templateName: 'promo', chatNumber: digits })
    await expectFailure(await promo(), /./, 'failed')
    await expectFailure(await promo(), /^Contact opted out$/, 'skipped')
    await template.world.sim('DELETE', `/recipients/${digits}`)
    expect((await send(digits)).body.success).toBe(true)
  })

  it('for throttling once (000003) is retried', async () => {
    const digits = await template.newMagicContact('000003')
    expect((await send(digits)).body).toMatchObject({ success: true })
  })

  it('for a persistent rate limit returns 200 with success false, which an Idempotency-Key does not keep', async () => {
    const digits = await template.newContact()
    await template.world.sim('PUT', `/recipients/${digits}`, { code: 130429 })
    await expectFailure(await send(digits, 'limited'), /^Too many requests: ./, 'failed')
    await template.world.sim('DELETE', `/recipients/${digits}`)
    const again = await send(digits, 'limited')
    expect([again.headers.get('idempotent-replayed'), again.body.success]).toEqual([null, true])
  })

  it('of a template that no longer exists is returned as its error', async () => {
    const { world, organization } = template
    await template.putTemplate({ name: 'short_lived', body: 'Olá' })
    await world.request('POST', '/templates/sync', { key: organization.key })
    await world.sim('DELETE', '/templates', { phone_number_id: organization.phoneNumberId, name: 'short_lived' })
    const answer = await template.send({ templateName: 'short_lived', chatNumber: await template.newContact() })
    await expectFailure(answer, /./, 'failed')
  })
})

describe('our own rate limit', () => {
  it('returns 429 with retry_after, and nothing is recorded', async () => {
    const { world } = template
    const organization = await world.createOrganization({ default_country: 'BR' })
    const { phoneNumberId, businessAccountId, appSecret, verifyToken } = organization
    await world.admin('PUT', `/organizations/${organization.id}/upstream`, {
      phone_number_id: phoneNumberId,
      business_account_id: businessAccountId,
      access_token: 'token',
      app_secret: appSecret,
      verify_token: verifyToken,
      messages_per_second: 0,
      pair_limit: true,
    })
    const digits = await template.newContact({}, organization)
    const hello = () => template.send({ templateName: 'hello_world', chatNumber: digits }, 'paced', organization)
    await world.database.pool.query(
      `UPDATE contacts SET paced_until = now() + interval '5 minutes' WHERE chat_id = $1`,
      [digits],
    )
    const answer = await hello()
    expectRefusal(answer, 'Too many requests', 429)
    expect(answer.headers.get('retry-after')).toBe(String(answer.body.retry_after))
    expect((await template.read('/broadcasts?kind=single', organization)).body.broadcasts).toEqual([])
    await world.database.pool.query('UPDATE contacts SET paced_until = NULL WHERE chat_id = $1', [digits])
    expect((await hello()).body.success).toBe(true)
  })
})

describe('an unknown outcome', () => {
  it.each(['000004', '000005'])('of a number ending in %s returns 200 with Outcome unknown', async (magic) => {
    const digits = await template.newMagicContact(magic)
    const answer = await send(digits)
    await expectFailure(answer, /^Outcome unknown$/, 'pending')
    expect(await template.shown(digits)).toMatchObject([{ message_status: 'sent', outcome: 'unknown' }])
    expect((await template.read(`/broadcasts/${answer.body.broadcastId}`)).body.broadcast.status).toBe('running')
  })

  it('is resolved by the callback, and never sent again', async () => {
    const digits = await template.newMagicContact('000005')
    const answer = await send(digits, 'settles')
    const again = await send(digits, 'settles')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(answer.body)

    const [{ id }] = await template.arrived(digits)
    const [shown] = await template.shown(digits)
    await report({ id, status: 'delivered', biz_opaque_callback_data: shown.id })
    const { broadcastId } = answer.body
    expect((await template.read(`/broadcasts/${broadcastId}`)).body.broadcast.status).toBe('completed')
    const { recipients } = (await template.read(`/broadcasts/${broadcastId}/recipients`)).body
    expect(recipients).toMatchObject([{ status: 'delivered', messageId: id }])
    const settled = await send(digits, 'settles')
    expect(settled.body).toMatchObject({ success: true, results: [{ messageId: id, error: null }], broadcastId })
    expect(settled.body).not.toHaveProperty('error')
    expect(await template.arrived(digits)).toHaveLength(1)
  })

  it('can turn out to be a failure', async () => {
    const digits = await template.newMagicContact('000005')
    const { body } = await send(digits, 'settles as failed')
    const [shown] = await template.shown(digits)
    const errors = [{ code: 131026, title: 'Message undeliverable' }]
    await report({ id: 'wamid.failed', status: 'failed', errors, biz_opaque_callback_data: shown.id })
    const settled = await send(digits, 'settles as failed')
    await expectFailure(settled, /Message undeliverable/, 'failed')
    expect(settled.body.broadcastId).toBe(body.broadcastId)
  })
})

async function report(status: object): Promise<void> {
  const value = { statuses: [{ timestamp: '1750000000', ...status }] }
  await template.world.sim('POST', '/callback', { phone_number_id: template.organization.phoneNumberId, value })
  await template.world.drain()
}

describe('an Idempotency-Key', () => {
  const isReplay = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true'

  it('returns the first answer again, and sends nothing', async () => {
    const digits = await template.newContact()
    const first = await send(digits, 'again')
    const again = await send(digits, 'again')
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    expect(again.body).toEqual(first.body)
    expect(await template.arrived(digits)).toHaveLength(1)
  })

  it('with another body returns 422', async () => {
    const digits = await template.newContact()
    await send(digits, 'reused')
    expectRefusal(await send(digits, 'reused', { 1: 'Bia', 2: '1042' }), 'Idempotency key reused', 422)
    expect(await template.arrived(digits)).toHaveLength(1)
  })

  it('in concurrent requests sends one message and creates one contact', async () => {
    const digits = template.newNumber()
    const body = { templateName: 'hello_world', chatNumber: digits, bodyParameters: { name: 'Ana' } }
    const answers = await Promise.all(Array.from({ length: 8 }, () => template.send(body, 'eight')))
    for (const { status } of answers) expect([200, 409]).toContain(status)
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(await template.arrived(digits)).toHaveLength(1)
  })

  it('keeps a refusal by the upstream', async () => {
    const digits = await template.newMagicContact('000001')
    const first = await send(digits, 'refused')
    const again = await send(digits, 'refused')
    expect([again.status, isReplay(again)]).toEqual([200, true])
    expect(again.body).toEqual(first.body)
    expect(await template.shown(digits)).toHaveLength(1)
  })

  it('keeps the result that the contact opted out', async () => {
    const digits = await template.newContact({ allow_broadcast: false })
    const promo = () => template.send({ templateName: 'promo', chatNumber: digits }, 'opted out')
    const first = await promo()
    expect(first.body.error).toBe('Contact opted out')
    const again = await promo()
    expect([isReplay(again), again.body]).toEqual([true, first.body])
  })

  it('keeps no refusal of the request', async () => {
    const digits = template.newNumber()
    expectRefusal(await send(digits, 'early'), 'Contact not found')
    const later = await send(digits, 'early', { name: 'Ana', 1: 'Ana', 2: '1042' } as never)
    expect([isReplay(later), later.body.success]).toEqual([false, true])
  })

  it.each([
    ['a send', 'sent', (digits: string) => send(digits, 'sent')],
    ['a refusal', 'refusal', (digits: string) => send(digits, 'refusal')],
    ['a skip', 'skip', (digits: string) => template.send({ templateName: 'promo', chatNumber: digits }, 'skip')],
  ])('whose process died after %s returns the outcome', async (_name, key, ask) => {
    const magic = key === 'refusal' ? '000001' : '555555'
    const digits = await template.newMagicContact(magic, { full_name: 'Ana', allow_broadcast: key !== 'skip' })
    const first = await ask(digits)
    await template.world.database.pool.query(
      'UPDATE idempotency_keys SET status = NULL, answer = NULL, process_id = 999999 WHERE organization_id = $1 AND key = $2',
      [template.organization.id, key],
    )
    await template.world.database.pool.query('UPDATE contacts SET allow_broadcast = true WHERE chat_id = $1', [digits])
    const again = await ask(digits)
    expect(isReplay(again)).toBe(true)
    expect(again.body).toEqual(first.body)
    expect(await template.arrived(digits)).toHaveLength(key === 'sent' ? 1 : 0)
  })
})
