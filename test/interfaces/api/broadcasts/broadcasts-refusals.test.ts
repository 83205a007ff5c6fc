import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { sha256 } from '../../../../src/lib/crypto/signature.js'
import { canonicalJson } from '../../../../src/lib/text/json.js'
import { MINUTE, NO_ID, OFFER, OFFER_PARAMETERS, startBroadcastWorld } from '../../../support/broadcasts.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)

beforeAll(async () => {
  const account = { phone_number_id: at.organization.phoneNumberId }
  const common = { language: 'en', category: 'MARKETING' }
  const put = async (name: string, components: object[]) => {
    const template = { ...common, name, components: [{ type: 'BODY', text: 'Look' }, ...components] }
    expect((await at.world.sim('PUT', '/templates', { ...account, template })).status).toBe(200)
  }
  await put('carousel', [{ type: 'CAROUSEL', cards: [] }])
  await put('catalog', [{ type: 'BUTTONS', buttons: [{ type: 'CATALOG', text: 'View' }] }])
  await put('flow', [{ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Answer', flow_id: '123' }] }])
})

const one = { audience: { recipients: [{ chatNumber: '16505559999' }] } }
const listed = async () => (await at.ask('GET', '/broadcasts')).body.pagination.totalBroadcasts

describe('POST /broadcasts returns 400 for', () => {
  it.each([
    ['no name', { name: undefined }, 'Missing required field', 'name'],
    ['an empty name', { name: '' }, 'Missing required field', 'name'],
    ['a name that is not a text', { name: 7 }, 'Invalid field', 'name'],
    ['a long name', { name: 'x'.repeat(501) }, 'Invalid field', 'name'],
    ['a name that cannot be stored', { name: 'a\u0000' }, 'Invalid field', 'name'],
    ['no templateName', { templateName: undefined }, 'Missing required field', 'templateName'],
    ['an unknown template', { templateName: 'nothing' }, 'Template not found', '"nothing"'],
    ['a language that the template does not have', { language: 'fr' }, 'Template not found', 'fr'],
    ['no audience', { audience: undefined }, 'Missing required field', 'audience'],
    ['an empty audience', { audience: {} }, 'Missing required field', 'audience'],
    [
      'an audience of empty lists',
      { audience: { tags: [], contactIds: [], recipients: [], all: false } },
      'Missing required field',
      'audience',
    ],
    ['tags that are not a list', { audience: { tags: 'vip' } }, 'Invalid field', 'audience.tags'],
    ['an invalid contact id', { audience: { contactIds: ['x'] } }, 'Invalid field', 'audience.contactIds[0]'],
    [
      'a recipient without number',
      { audience: { recipients: [{ name: 'A' }] } },
      'Missing required field',
      'chatNumber',
    ],
    [
      'a recipient whose number is not a text',
      { audience: { recipients: [{ chatNumber: 5 }] } },
      'Invalid field',
      'audience.recipients[0].chatNumber',
    ],
    ['all that is not a boolean', { audience: { all: 'yes' } }, 'Invalid field', 'audience.all'],
    [
      'scheduled_at with an impossible month',
      { scheduled_at: '2030-13-01T10:00:00Z' },
      'Invalid field',
      'scheduled_at',
    ],
    ['scheduled_at on a 30 February', { scheduled_at: '2026-02-30T09:00:00Z' }, 'Invalid field', 'scheduled_at'],
    ['scheduled_at on a 31 April', { scheduled_at: '2026-04-31T09:00:00-03:00' }, 'Invalid field', 'scheduled_at'],
    ['a leap day in a year without one', { scheduled_at: '2027-02-29T09:00:00Z' }, 'Invalid field', 'scheduled_at'],
    ['scheduled_at that is not a time', { scheduled_at: 'tomorrow' }, 'Invalid field', 'scheduled_at'],
    ['scheduled_at without time zone', { scheduled_at: '2030-01-01T10:00:00' }, 'Invalid field', 'scheduled_at'],
    ['a leap second as scheduled_at', { scheduled_at: '2030-06-30T23:59:60Z' }, 'Invalid field', 'scheduled_at'],
    ['parameters that the template lacks', { bodyParameters: { city: 'Rio' } }, 'Invalid field', 'bodyParameters.city'],
    ['a file that the template lacks', { headerMedia: 'https://a.example/b.png' }, 'Invalid field', 'headerMedia'],
    [
      'a parameter that is not a text',
      { templateName: OFFER, bodyParameters: { name: 1 } },
      'Invalid field',
      'bodyParameters.name',
    ],
    [
      'parameters of a recipient that the template lacks',
      { audience: { recipients: [{ chatNumber: '1' }, { chatNumber: '2', buttonParameters: { link: 'x' } }] } },
      'Invalid field',
      'audience.recipients[1].buttonParameters.link',
    ],
    [
      'an unknown placeholder',
      { templateName: OFFER, ...OFFER_PARAMETERS, bodyParameters: { name: '{{age}}', discount: '1' } },
      'Invalid field',
      '{{age}}',
    ],
    [
      'no parameters, although not all recipients are listed',
      { templateName: OFFER, audience: { tags: ['a'], recipients: [{ chatNumber: '1' }] } },
      'Missing required field',
      'bodyParameters.discount',
    ],
    ['a template with a carousel', { templateName: 'carousel' }, 'Invalid field', 'it has a CAROUSEL'],
    ['a template with a catalog', { templateName: 'catalog' }, 'Invalid field', 'it has a button of type CATALOG'],
    ['no header file', { templateName: 'nova_colecao' }, 'Missing required field', 'headerMedia'],
  ])('%s', async (_name, fields, error, named) => {
    const answer = await at.post({ ...one, ...fields })
    expect(answer).toMatchObject({ status: 400, body: { success: false, error } })
    expect(answer.body.message).toContain(named)
    expect(await listed()).toBe(0)
  })

  it('a body that is not a JSON object', async () => {
    for (const body of ['{"name":', '[]', '"x"']) {
      expect(await at.ask('POST', '/broadcasts', { body })).toMatchObject({
        status: 400,
        body: { error: 'Invalid JSON' },
      })
    }
  })

  it('an organization without a number at the upstream', async () => {
    const made = await at.world.admin('POST', '/organizations', { name: 'No number', slug: 'no-number' })
    const issued = await at.world.admin('POST', `/organizations/${made.body.organization.id}/keys`, { name: 'k' })
    const answer = await at.ask('POST', '/broadcasts', {
      key: issued.body.api_key.key,
      body: { name: 'N', templateName: 'hello_world', ...one },
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'Invalid provider' } })
  })
})

it('a template with a FLOW button is sent with its component', async () => {
  await at.send({ templateName: 'flow', audience: { recipients: [{ chatNumber: '16505558888' }] } })
  const [{ template }] = await at.arrived()
  expect(template.components).toEqual([{ type: 'button', sub_type: 'flow', index: '0' }])
})

describe('Idempotency-Key', () => {
  const headers = (key: string) => ({ 'idempotency-key': key })

  it('creates a broadcast once, and returns the first answer again', async () => {
    const before = await listed()
    const body = { audience: { recipients: [{ chatNumber: at.newNumber() }] } }
    const first = await at.post(body, headers('made-once'))
    expect(first.status).toBe(202)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    await at.world.drain()
    const again = await at.post(body, headers('made-once'))
    expect(again.body).toEqual(first.body)
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    await at.world.drain()
    expect(await listed()).toBe(before + 1)
    expect((await at.arrived()).filter(({ to }) => to === body.audience.recipients[0]?.chatNumber)).toHaveLength(1)
  })

  it('creates one broadcast for two concurrent requests', async () => {
    const before = await listed()
    const body = { audience: { recipients: [{ chatNumber: at.newNumber() }] } }
    const answers = await Promise.all([1, 2, 3].map(() => at.post(body, headers('at-once'))))
    for (const { status, body: answer } of answers) {
      if (status !== 202) expect({ status, error: answer.error }).toEqual({ status: 409, error: 'Request in progress' })
    }
    expect(await listed()).toBe(before + 1)
  })

  it('is refused with another body, and free after a refusal', async () => {
    const body = { audience: { recipients: [{ chatNumber: at.newNumber() }] } }
    expect((await at.post({ ...body, templateName: 'nothing' }, headers('corrected'))).status).toBe(400)
    expect((await at.post(body, headers('corrected'))).status).toBe(202)
    expect(await at.post({ ...body, name: 'Other' }, headers('corrected'))).toMatchObject({
      status: 422,
      body: { error: 'Idempotency key reused' },
    })
  })

  it('runs a control once', async () => {
    const scheduled_at = new Date(at.world.now().getTime() + MINUTE).toISOString()
    const { id } = await at.create({ audience: { recipients: [{ chatNumber: at.newNumber() }] }, scheduled_at })
    const pause = (key: string) => at.ask('POST', '/broadcasts/{id}/pause', { id, headers: headers(key) })
    const first = await pause('pause-1')
    expect(first.body.broadcast.status).toBe('paused')
    await at.act(id, 'resume')
    const again = await pause('pause-1')
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await at.read(id)).status).toBe('scheduled')
    expect((await pause('pause-2')).body.broadcast.status).toBe('paused')
  })

  const CONTROLS = [
    ['pause', 'paused'],
    ['resume', 'scheduled'],
    ['cancel', 'cancelled'],
  ] as const

  /** A broadcast to which the control can be applied. */
  const makeFor = async (verb: string): Promise<string> => {
    const scheduled_at = new Date(at.world.now().getTime() + MINUTE).toISOString()
    const { id } = await at.create({ audience: { recipients: [{ chatNumber: at.newNumber() }] }, scheduled_at })
    if (verb === 'resume') await at.act(id, 'pause')
    return id
  }

  const control = (id: string, verb: string) =>
    at.ask('POST', `/broadcasts/{id}/${verb}`, { id, headers: headers(`died-${verb}`) })

  it.each(CONTROLS)('is retried if its process died before it had an effect: %s', async (verb, status) => {
    const id = await makeFor(verb)
    await at.world.database.pool.query(
      `INSERT INTO idempotency_keys (organization_id, operation, key, body_hash, resource_id, process_id)
       VALUES ($1, $2, $3, $4, $5, 999999)`,
      [at.organization.id, `POST /broadcasts/${id}/${verb}`, `died-${verb}`, sha256(canonicalJson(null)), newId()],
    )
    const answer = await control(id, verb)
    expect(answer).toMatchObject({ status: 200, body: { broadcast: { id, status } } })
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
    expect((await at.read(id)).status).toBe(status)
    const again = await control(id, verb)
    expect(again).toMatchObject({ status: 200, body: answer.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  it.each(CONTROLS)('returns the result if its process died afterwards: %s', async (verb) => {
    const id = await makeFor(verb)
    const first = await control(id, verb)
    expect(first.status).toBe(200)
    await at.world.database.pool.query(
      'UPDATE idempotency_keys SET status = NULL, answer = NULL, process_id = 999999 WHERE operation = $1',
      [`POST /broadcasts/${id}/${verb}`],
    )
    const again = await control(id, verb)
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('another organization', () => {
  it('sees nothing of the broadcast, and changes nothing', async () => {
    const scheduled_at = new Date(at.world.now().getTime() + MINUTE).toISOString()
    const { id } = await at.create({ audience: { recipients: [{ chatNumber: at.newNumber() }] }, scheduled_at })
    const before = await at.read(id)
    const { key } = at.other
    const notFound = { status: 404, body: { success: false, error: 'Broadcast not found' } }
    expect(await at.ask('GET', '/broadcasts/{id}', { id, key })).toMatchObject(notFound)
    expect(await at.ask('GET', '/broadcasts/{id}/recipients', { id, key })).toMatchObject(notFound)
    expect(await at.ask('GET', '/broadcasts/{id}/recipients?format=csv', { id, key })).toMatchObject(notFound)
    for (const verb of ['pause', 'resume', 'cancel', 'retry-failed']) {
      expect(await at.ask('POST', `/broadcasts/{id}/${verb}`, { id, key })).toMatchObject(notFound)
    }
    expect((await at.ask('GET', '/broadcasts', { key })).body).toMatchObject({ broadcasts: [], count: 0 })
    expect(await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`, { key })).toMatchObject(notFound)
    expect(await at.read(id)).toEqual(before)
  })

  it('is refused as tenantId', async () => {
    const answer = await at.ask('POST', `/broadcasts?tenantId=${at.other.id}`, {
      body: { name: 'N', templateName: 'hello_world', ...one },
    })
    expect(answer).toMatchObject({ status: 401, body: { error: 'Invalid API key' } })
  })
})

describe('an unknown broadcast', () => {
  it.each([NO_ID, 'x', '0'])('returns 404: %s', async (id) => {
    for (const [method, path] of [
      ['GET', '/broadcasts/{id}'],
      ['GET', '/broadcasts/{id}/recipients'],
      ['POST', '/broadcasts/{id}/pause'],
      ['POST', '/broadcasts/{id}/resume'],
      ['POST', '/broadcasts/{id}/cancel'],
      ['POST', '/broadcasts/{id}/retry-failed'],
    ] as const) {
      expect(await at.ask(method, path, { id })).toMatchObject({ status: 404, body: { success: false } })
    }
  })

  it.each(['status=sending', 'page=0', 'limit=101', 'limit=x', 'kind=double', 'kind=single&status=paused'])(
    'is not listed by %s',
    async (query) => {
      expect(await at.ask('GET', `/broadcasts?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'Invalid parameter' },
      })
    },
  )
})
