import { pino } from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestAsDescribed } from '../../support/openapi.js'
import { useOrganization, useWorld } from '../../support/world.js'

const lines: string[] = []

const world = useWorld({}, pino({ level: 'info' }, { write: (line) => void lines.push(line) }))
const request = requestAsDescribed(world)
const organization = useOrganization(world)

beforeAll(async () => {
  await post('/contact', { phone_number: '5511988880001' })
})

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  return request('POST', path, { key: organization.key, body, headers })
}

const text = { phone_number: '5511988880001', message_type: 'text', text: 'Hello' }
const button = { type: 'button', body: 'Well?', buttons: [{ id: 'a', title: 'Yes' }] }

describe('an unknown field', () => {
  it('is reported with the nearest known one, and the message is sent', async () => {
    const { status, body } = await post('/send-chat', { ...text, contxt_message_id: 'x' })
    expect(status).toBe(200)
    expect(body.warnings).toEqual([
      'The field contxt_message_id is not known and was ignored. Did you mean context_message_id?',
    ])
  })

  it.each([
    ['to', 'phone_number'],
    ['number', 'phone_number'],
    ['type', 'message_type'],
    ['body', 'text'],
    ['reply_to', 'context_message_id'],
  ])('is reported with the name that the field has here: %s', async (given, meant) => {
    const { status, body } = await post('/send-chat', { ...text, [given]: 'x' })
    expect([status, body.warnings]).toEqual([
      200,
      [`The field ${given} is not known and was ignored. Did you mean ${meant}?`],
    ])
  })

  it('is reported by another name where the endpoint has another', async () => {
    const { body } = await post('/send-template', { to: '5511988880001', template: 'hello_world' })
    expect(body.warnings).toEqual([
      'The field to is not known and was ignored. Did you mean chatNumber?',
      'The field template is not known and was ignored. Did you mean templateName?',
    ])
  })

  it.each([
    [{ Phone_Number: 'x' }, ['The field Phone_Number is not known and was ignored. Did you mean phone_number?']],
    [{ zzzzzzzz: 1 }, ['The field zzzzzzzz is not known and was ignored.']],
    [{ caption: 'x' }, ['The field caption is not a field of message_type text and was ignored.']],
    [
      { message_type: 'interactive', interactive: { ...button, buttns: [], sections: [] } },
      [
        'The field text is not a field of message_type interactive and was ignored.',
        'The field interactive.buttns is not known and was ignored. Did you mean interactive.buttons?',
        'The field interactive.sections is not a field of type button and was ignored.',
      ],
    ],
    [
      {
        message_type: 'interactive',
        text: undefined,
        interactive: { ...button, buttons: twoButtons({ titel: 'No' }) },
      },
      [
        'The field interactive.buttons[0].titel is not known and was ignored. Did you mean interactive.buttons[0].title?',
      ],
    ],
  ])('is reported in %j', async (fields, warnings) => {
    const { status, body } = await post('/send-chat', { ...text, ...fields })
    expect([status, body.warnings]).toEqual([200, warnings])
  })

  it('is reported in errors too, because it is often their cause', async () => {
    const { status, body } = await post('/send-chat', { ...text, text: undefined, txt: 'Hello' })
    expect([status, body.message]).toEqual([400, 'text is required for text messages'])
    expect(body.warnings).toEqual(['The field txt is not known and was ignored. Did you mean text?'])
  })

  it('is reported if the message type itself is misspelt', async () => {
    const { status, body } = await post('/send-chat', { ...text, message_type: undefined, mesage_type: 'text' })
    expect([status, body.error]).toEqual([400, 'Missing required field'])
    expect(body.warnings).toEqual(['The field mesage_type is not known and was ignored. Did you mean message_type?'])
  })

  it('is reported for a parameter, and for a route without a body', async () => {
    const read = await request('GET', '/contact?phone_number=5511988880001&tenentId=x', { key: organization.key })
    expect(read.body.warnings).toEqual(['The parameter tenentId is not known and was ignored. Did you mean tenantId?'])
    const sync = await post('/templates/sync?force=1', { name: 'x' })
    expect(sync.body.warnings).toEqual([
      'The parameter force is not known and was ignored.',
      'The field name is not known and was ignored.',
    ])
  })

  it('is reported again in a replayed answer', async () => {
    const key = { 'idempotency-key': 'one' }
    const first = await post('/send-chat', { ...text, txt: '' }, key)
    const again = await post('/send-chat', { ...text, txt: '' }, key)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
    expect(first.body.warnings).toHaveLength(1)
  })
})

describe('a time at which the endpoint could act, but does not know', () => {
  const template = { templateName: 'hello_world', chatNumber: '5511988880001' }
  const broadcast = { name: 'News', templateName: 'hello_world', audience: { all: true } }

  let sentBefore = 0
  const numbered = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, index]))
  const at = '2099-01-01T09:00:00Z'

  beforeAll(async () => {
    sentBefore = (await world.sim('GET', '/messages')).body.total
  })

  it.each<[string, string, () => object, string]>([
    ['a message, misspelt', '/send-chat', () => ({ ...text, schedule_at: at }), 'schedule_at'],
    ['another spelling', '/send-chat', () => ({ ...text, scheduledAt: 4_070_908_800 }), 'scheduledAt'],
    ['many other fields', '/send-chat', () => ({ ...numbered, ...text, schedule_at: '2099' }), 'schedule_at'],
    [
      'a template, in the style of its fields',
      '/send-template',
      () => ({ ...template, scheduledAt: at }),
      'scheduledAt',
    ],
    ['a template, misspelt', '/send-template', () => ({ ...template, schedule_at: 'tomorrow' }), 'schedule_at'],
    ['a short link', '/shortlinks', () => ({ redirect_url: 'https://a.example', scheduled_at: at }), 'scheduled_at'],
    ['a route without a body', '/templates/sync', () => ({ scheduled_at: at }), 'scheduled_at'],
    ['a broadcast, misspelt', '/broadcasts', () => ({ ...broadcast, scheduledAt: at }), 'scheduledAt'],
    [
      'a recipient',
      '/broadcasts',
      () => ({ ...broadcast, audience: { recipients: [{ chatNumber: '1', scheduled_at: at }] } }),
      'audience.recipients[0].scheduled_at',
    ],
    [
      'a long list',
      '/broadcasts',
      () => ({ ...broadcast, audience: { recipients: Array(12_000).fill({ chatNumber: '1' }) }, schedule_at: at }),
      'schedule_at',
    ],
  ])('is refused, and nothing is sent: %s', async (_what, path, body, name) => {
    const { status, body: answer } = await post(path, body())
    expect([status, answer.error]).toEqual([400, 'Invalid field'])
    expect(answer.message).toContain(`The field ${name} is not known here`)
    expect((await world.sim('GET', '/messages')).body.total).toBe(sentBefore)
  })

  it('is refused as a parameter too, and the known field is named', async () => {
    const sent = await post('/send-chat?scheduled_at=2099-01-01T09:00:00Z', text)
    expect([sent.status, sent.body.error]).toEqual([400, 'Invalid field'])
    for (const [path, body] of [['/broadcasts', broadcast] as const, ['/send-template', template] as const]) {
      const answer = await post(path, { ...body, scheduledAt: '2099-01-01T09:00:00Z' })
      expect(answer.body.message).toContain('use scheduled_at')
    }
  })

  it.each([null, ''])('is ignored without a value: %j', async (scheduled_at) => {
    const { status, body } = await post('/templates/sync', { scheduled_at })
    expect([status, body.warnings]).toEqual([200, ['The field scheduled_at is not known and was ignored.']])
  })
})

describe('an answer without warnings', () => {
  it('follows a request with known fields only', async () => {
    expect(Object.keys((await post('/send-chat', text)).body)).toEqual(['success', 'message', 'data'])
  })

  it('follows fields that may contain any value', async () => {
    const source = { type: 'website', campain: { colour: 'red' } }
    const made = await post('/contact', { phone_number: '5511988880002', source })
    expect([made.status, made.body.warnings]).toEqual([201, undefined])
    const template = { templateName: 'none', chatNumber: '5511988880002', bodyParameters: { anything: 'x' } }
    expect((await post('/send-template', template)).body.warnings).toBeUndefined()
  })

  it('is returned before the key has been checked', async () => {
    const refused = await request('GET', '/contact?phonenumber=1', { key: 'parley_wrong' })
    expect([refused.status, refused.body.warnings]).toEqual([401, undefined])
  })
})

describe('the warnings', () => {
  it('name at most 20 of a million fields, with at most 100 characters each', async () => {
    const names = Array.from({ length: 90_000 }, (_, index) => [`x${index}`, 1])
    const { body } = await post('/contact', { ...Object.fromEntries(names), ['y'.repeat(500)]: 1 })
    expect(body.warnings).toHaveLength(20)
    const long = await post('/contact', { ['y'.repeat(500)]: 1 })
    expect(long.body.warnings).toEqual([`The field ${'y'.repeat(100)} is not known and was ignored.`])
  })
})

describe('the log', () => {
  it('contains each field of a key once, with the organization', async () => {
    const logged = () => lines.filter((line) => line.includes('once_only'))
    for (let time = 0; time < 3; time++) await post('/contact', { once_only: 1 })
    expect(logged()).toHaveLength(1)
    expect(JSON.parse(logged()[0] as string)).toMatchObject({
      organizationId: organization.id,
      route: 'POST /contact',
      field: 'once_only',
      msg: 'unknown field ignored',
    })
    const other = await world.createOrganization()
    await request('POST', '/contact', { key: other.key, body: { once_only: 1 } })
    expect(logged()).toHaveLength(2)
  })
})

function twoButtons(more: object) {
  return ['a', 'b'].map((id) => ({ id, title: id, ...more }))
}
