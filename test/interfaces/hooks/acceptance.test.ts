import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { changeFor, envelope, post, postBody, textMessage, wamid } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { callbackRows } from '../../support/rows/callbacks.js'
import { type TestOrganization, useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

function bodyWith(text: string): string {
  const change = changeFor(organization, { messages: [textMessage('16505550001', text)] })
  return JSON.stringify(envelope(organization.businessAccountId, change))
}

async function storedBodies(id: string): Promise<string[]> {
  return (await callbackRows(world, { organization_id: id })).map(({ body }) => body.toString('utf8'))
}

async function countsOfRefused(): Promise<{ known: number; unknown: number }> {
  const { body } = await world.request('GET', '/metrics')
  const countOf = (number: string) =>
    Number(new RegExp(`^parley_callbacks_refused_total{number="${number}"} (\\d+)$`, 'm').exec(body)?.[1] ?? 0)
  return { known: countOf('known'), unknown: countOf('unknown') }
}

const waitingCallbacks = async () => (await callbackRows(world, { waiting: true })).length

describe('POST /hooks/upstream, 200', () => {
  it('stores the exact body, which waits, before it responds', async () => {
    await world.drain()
    const body = ` ${bodyWith('h\\u00e9llo \u{1F44B}').replace('"entry"', '"ent\\u0072y"')}\n`
    const answer = await postBody(world, body, organization.appSecret)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ success: true })
    expect((await storedBodies(organization.id)).at(-1)).toBe(body)
    expect(await waitingCallbacks()).toBe(1)
    await world.drain()
    expect(await waitingCallbacks()).toBe(0)
  })

  it('creates one job per stored callback, however many arrive together', async () => {
    const before = (await storedBodies(organization.id)).length
    const bodies = Array.from({ length: 30 }, (_, index) => bodyWith(`together ${index}`))
    const answers = await Promise.all(bodies.map((body) => postBody(world, body, organization.appSecret)))
    expect(answers.map((answer) => answer.status)).toEqual(bodies.map(() => 200))
    expect((await storedBodies(organization.id)).length - before).toBe(30)
    expect(await waitingCallbacks()).toBe(30)
    await world.drain()
  })

  it('accepts any Content-Type, since the signature is over the bytes', async () => {
    const body = bodyWith('no type')
    const signature = `sha256=${createHmac('sha256', organization.appSecret).update(body).digest('hex')}`
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8']) {
      const headers = { 'content-type': type, 'x-hub-signature-256': signature }
      expect((await world.request('POST', '/hooks/upstream', { body, headers })).status).toBe(200)
    }
    await world.drain()
  })

  it.each([
    ['an unknown field', { field: 'account_alerts', value: { whatever: [1, { deep: true }] } }],
    ['a template update', { field: 'message_template_status_update', value: { event: 'APPROVED' } }],
    ['a change without a value', { field: 'messages' }],
    ['a change whose value is text', { field: 'messages', value: 'text' }],
  ])('stores %s unchanged, routed by the business account, and processes it', async (_name, change) => {
    const body = JSON.stringify(envelope(organization.businessAccountId, change))
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    expect((await storedBodies(organization.id)).at(-1)).toBe(body)
    await world.drain()
    expect(await waitingCallbacks()).toBe(0)
  })

  it.each([
    ['messages that are not an array', { messages: { from: '1' } }],
    ['messages of nulls and numbers', { messages: [null, 7, 'x', []] }],
    ['a message without id', { messages: [{ from: '16505550002', type: 'text', text: { body: 'x' } }] }],
    ['a message without sender', { messages: [{ id: 'wamid.nobody', type: 'text', text: { body: 'x' } }] }],
    ['an endless id', { messages: [textMessage('16505550002', 'x', { id: 'w'.repeat(600) })] }],
    ['statuses of rubbish', { statuses: [null, {}, { id: 5, status: 'sent' }, { id: 'wamid.x', status: 'toString' }] }],
    ['errors of the whole value', { errors: [{ code: 131000, title: 'Something went wrong' }] }],
    ['contacts of rubbish', { contacts: 'nobody', messages: [{ from: 16505550002, id: {}, type: [] }] }],
  ])('accepts %s, and shows nothing of it', async (_name, value) => {
    await post(world, organization, value)
    await world.drain()
    expect(await waitingCallbacks()).toBe(0)
    expect((await conversation(world, organization, '16505550002')).status).toBe(404)
  })

  it('shows U+0000 and lone surrogates as U+FFFD, and stores the raw bytes', async () => {
    const change = changeFor(organization, {
      contacts: [{ profile: { name: 'Zo\0e' }, wa_id: '16505550003' }],
      messages: [textMessage('16505550003', 'HOLE')],
    })
    const body = JSON.stringify(envelope(organization.businessAccountId, change)).replace('HOLE', 'a\\u0000b\\ud83dc')
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    expect((await storedBodies(organization.id)).at(-1)).toBe(body)
    await world.drain()
    const shown = await conversation(world, organization, '16505550003')
    expect(shown.body.messages[0].message).toBe('a\uFFFDb\uFFFDc')
    const found = await world.request('GET', '/contact?chat_id=16505550003', { key: organization.key })
    expect(found.body.contact.full_name).toBe('Zo\uFFFDe')
  })

  it('accepts a body that is not valid UTF-8', async () => {
    const body = bodyWith('x')
    const bytes = Buffer.from(body.replace('"x"', '"\u00ff"'), 'latin1')
    const signature = `sha256=${createHmac('sha256', organization.appSecret).update(bytes).digest('hex')}`
    const response = await fetch(`${world.app.url}/hooks/upstream`, {
      method: 'POST',
      headers: { 'x-hub-signature-256': signature },
      body: new Uint8Array(bytes),
    })
    expect(response.status).toBe(200)
    await world.drain()
    expect(await waitingCallbacks()).toBe(0)
  })

  it('accepts 1,000 updates in one body', async () => {
    const messages = Array.from({ length: 1_000 }, (_, index) => textMessage('16505550004', `update ${index + 1}`))
    await post(world, organization, { messages })
    await world.drain()
    const query = 'chatNumber=16505550004&ascending=true&limit=100'
    const last = await world.request('GET', `/conversations?${query}&page=10`, { key: organization.key })
    expect(last.body.pagination.totalMessages).toBe(1_000)
    expect(last.body.messages[0].message).toBe('update 901')
    expect(last.body.messages[99].message).toBe('update 1000')
  })

  it('accepts 1,000 updates from 1,000 people, each in a separate change', async () => {
    const changes = Array.from({ length: 1_000 }, (_, index) =>
      changeFor(organization, { messages: [textMessage(`1650555${String(1_000 + index)}`, `hello ${index}`)] }),
    )
    const body = JSON.stringify(envelope(organization.businessAccountId, ...changes))
    expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    await world.drain()
    for (const index of [0, 500, 999]) {
      const shown = await conversation(world, organization, `1650555${1_000 + index}`)
      expect(shown.body.messages.map((one: { message: string }) => one.message)).toEqual([`hello ${index}`])
    }
  })

  it("accepts a deeply nested body, alone and with another organization's change", async () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const other = await world.createOrganization()
    const mine = changeFor(organization, { messages: [textMessage('16505550005', 'deep', { nested: 'NEST' })] })
    const theirs = changeFor(other, { messages: [] })
    for (const changes of [[mine], [mine, theirs]]) {
      const body = JSON.stringify(envelope('x', ...changes)).replace('"NEST"', nested)
      expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
    }
    await world.drain()
    expect(await waitingCallbacks()).toBe(0)
    expect((await conversation(world, organization, '16505550005')).body.count).toBe(1)
  })
})

describe('POST /hooks/upstream, 400', () => {
  it.each([
    ['incomplete JSON', '{"object":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['a number', '7'],
    ['null', 'null'],
    ['text', '"whatsapp_business_account"'],
  ])('refuses %s, though signed', async (_name, body) => {
    const answer = await postBody(world, body, organization.appSecret)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid JSON' })
  })
})

describe('POST /hooks/upstream, 401', () => {
  it('refuses a body without signature', async () => {
    const answer = await postBody(world, bodyWith('unsigned'), null)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ success: false, error: 'Authorization required' })
  })

  it('refuses another secret, another body, another algorithm, and half a signature', async () => {
    const body = bodyWith('forged')
    const right = createHmac('sha256', organization.appSecret).update(body).digest('hex')
    const wrong = [
      `sha256=${createHmac('sha256', 'another secret').update(body).digest('hex')}`,
      `sha256=${createHmac('sha256', organization.appSecret).update(`${body} `).digest('hex')}`,
      `sha1=${createHmac('sha1', organization.appSecret).update(body).digest('hex')}`,
      `sha256=${right.slice(0, 32)}`,
      right,
      'sha256=',
    ]
    const before = (await storedBodies(organization.id)).length
    for (const signature of wrong) {
      const headers = { 'x-hub-signature-256': signature }
      const answer = await world.request('POST', '/hooks/upstream', { body, headers })
      expect(answer.status, signature).toBe(401)
      expect(answer.body).toMatchObject({ success: false, error: 'Invalid signature' })
    }
    expect((await storedBodies(organization.id)).length).toBe(before)
  })

  it('counts refused bodies by whether somebody has their number', async () => {
    const before = await countsOfRefused()
    await postBody(world, bodyWith('forged again'), 'another secret')
    const stranger = { ...organization, phoneNumberId: '999000333' }
    const unclaimed = envelope('999000444', changeFor(stranger, { messages: [textMessage('16505550006', 'x')] }))
    await postBody(world, JSON.stringify(unclaimed), organization.appSecret)
    const after = await countsOfRefused()
    expect([after.known - before.known, after.unknown - before.unknown]).toEqual([1, 1])
  })

  it('refuses a body with unclaimed numbers, and one without numbers', async () => {
    const stranger = { ...organization, phoneNumberId: '999000111' }
    const unclaimed = envelope('999000222', changeFor(stranger, { messages: [textMessage('16505550006', 'x')] }))
    for (const body of [unclaimed, {}, { entry: [] }, { entry: 'x' }, { entry: [{ changes: [{}] }] }]) {
      expect((await postBody(world, JSON.stringify(body), organization.appSecret)).status).toBe(401)
    }
  })

  it('routes messages by their number only, not by the business account', async () => {
    const stranger = { ...organization, phoneNumberId: '999000111' }
    const change = changeFor(stranger, { messages: [textMessage('16505550007', 'x')] })
    const body = JSON.stringify(envelope(organization.businessAccountId, change))
    expect((await postBody(world, body, organization.appSecret)).status).toBe(401)
  })
})

describe('POST /hooks/upstream, 413', () => {
  it('accepts 4 MB and not a byte more', async () => {
    const limit = 4 * 1_048_576
    const body = bodyWith('big')
    const fits = body + ' '.repeat(limit - Buffer.byteLength(body))
    expect((await postBody(world, fits, organization.appSecret)).status).toBe(200)
    const answer = await postBody(world, `${fits} `, organization.appSecret)
    expect(answer.status).toBe(413)
    expect(answer.body).toMatchObject({ success: false, error: 'Payload too large' })
    await world.drain()
  })
})

describe('several organizations in one body', () => {
  const customer = '16505550008'

  async function connect(owner: TestOrganization, appSecret: string): Promise<TestOrganization> {
    const settings = {
      phone_number_id: owner.phoneNumberId,
      business_account_id: owner.businessAccountId,
      access_token: 'token',
      app_secret: appSecret,
      verify_token: owner.verifyToken,
    }
    expect((await world.admin('PUT', `/organizations/${owner.id}/upstream`, settings)).status).toBe(200)
    return { ...owner, appSecret }
  }

  async function texts(owner: TestOrganization): Promise<string[] | null> {
    const { status, body } = await conversation(world, owner, customer)
    return status === 404 ? null : body.messages.map((message: { message: string }) => message.message)
  }

  function mixedBody(...owners: TestOrganization[]): string {
    const changes = owners.map((owner) =>
      changeFor(owner, {
        contacts: [{ profile: { name: `Known to ${owner.slug}` }, wa_id: customer }],
        messages: [textMessage(customer, `for ${owner.slug}`, { id: wamid() })],
      }),
    )
    return JSON.stringify(envelope('any', ...changes))
  }

  it('reaches only the organization whose secret signed it, without the changes of the other', async () => {
    const [first, second] = [await world.createOrganization(), await world.createOrganization()]
    expect((await postBody(world, mixedBody(first, second), first.appSecret)).status).toBe(200)
    await world.drain()
    expect(await texts(first)).toEqual([`for ${first.slug}`])
    expect(await texts(second)).toBeNull()
    const [stored] = await storedBodies(first.id)
    expect(stored).toContain(`for ${first.slug}`)
    expect(stored).not.toContain(second.slug)
    expect(stored).not.toContain(second.phoneNumberId)
    expect(await storedBodies(second.id)).toEqual([])
  })

  it('reaches both if they share an app, each with its own changes', async () => {
    const shared = 'secret of one app'
    const first = await connect(await world.createOrganization(), shared)
    const second = await connect(await world.createOrganization(), shared)
    expect((await postBody(world, mixedBody(first, second), shared)).status).toBe(200)
    expect(await waitingCallbacks()).toBe(2)
    await world.drain()
    for (const [owner, other] of [
      [first, second],
      [second, first],
    ] as const) {
      expect(await texts(owner)).toEqual([`for ${owner.slug}`])
      const [stored] = await storedBodies(owner.id)
      expect(stored).not.toContain(other.slug)
    }
  })

  it('is refused if the signature matches none of them', async () => {
    const [first, second] = [await world.createOrganization(), await world.createOrganization()]
    expect((await postBody(world, mixedBody(first, second), 'another secret')).status).toBe(401)
    expect(await storedBodies(first.id)).toEqual([])
  })

  it('drops changes with unclaimed numbers and keeps the others', async () => {
    const first = await world.createOrganization()
    const nobody = { ...first, slug: 'nobody', phoneNumberId: '999000333' }
    expect((await postBody(world, mixedBody(first, nobody), first.appSecret)).status).toBe(200)
    await world.drain()
    expect(await texts(first)).toEqual([`for ${first.slug}`])
    expect((await storedBodies(first.id))[0]).not.toContain('999000333')
  })
})
