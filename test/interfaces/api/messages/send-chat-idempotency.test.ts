import { describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { type Answer, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld({ PARLEY_UPSTREAM_TIMEOUT_MS: '600' })
const organization = useOrganization(world)
let people = 0

async function newContact(magic = '555555', owner = organization): Promise<string> {
  const digits = `5511${++people + 100}${magic}`
  await createContact(world, owner, `+${digits}`)
  return digits
}

function send(key: string, body: object, owner = organization): Promise<Answer> {
  const headers = { 'idempotency-key': key }
  return world.request('POST', '/send-chat', { key: owner.key, body: { message_type: 'text', ...body }, headers })
}

async function sentTo(digits: string): Promise<number> {
  return (await world.sim('GET', `/messages?to=${digits}`)).body.total
}

function isReplay(answer: Answer): boolean {
  return answer.headers.get('idempotent-replayed') === 'true'
}

/** Changes a key's row to that of a process that died during the request. */
async function kill(key: string, change: string): Promise<void> {
  await world.database.pool.query(
    `UPDATE idempotency_keys SET status = NULL, answer = NULL, process_id = 999999 ${change}
     WHERE organization_id = $1 AND key = $2`,
    [organization.id, key],
  )
}

describe('an Idempotency-Key', () => {
  it('with the same body returns the first answer again and sends nothing', async () => {
    const digits = await newContact()
    const first = await send('replay', { phone_number: digits, text: 'once' })
    expect([first.status, isReplay(first)]).toEqual([200, false])
    for (const body of [
      { phone_number: digits, text: 'once' },
      { text: 'once', phone_number: digits },
    ]) {
      const again = await send('replay', body)
      expect([again.status, isReplay(again)]).toEqual([200, true])
      expect(again.body).toEqual(first.body)
    }
    expect(await sentTo(digits)).toBe(1)
    expect((await conversation(world, organization, digits)).body.count).toBe(1)
  })

  it('with another body is refused', async () => {
    const digits = await newContact()
    await send('reused', { phone_number: digits, text: 'once' })
    const other = await send('reused', { phone_number: digits, text: 'twice' })
    expect(other.status).toBe(422)
    expect(other.body).toMatchObject({ success: false, error: 'Idempotency key reused' })
    expect(await sentTo(digits)).toBe(1)
  })

  it('of another organization is a different key', async () => {
    const other = await world.createOrganization()
    const [mine, theirs] = [await newContact(), await newContact('555555', other)]
    await send('shared', { phone_number: mine, text: 'mine' })
    const answer = await send('shared', { phone_number: theirs, text: 'theirs' }, other)
    expect([answer.status, isReplay(answer)]).toEqual([200, false])
  })

  it('is free again after 24 hours', async () => {
    const digits = await newContact()
    await send('old', { phone_number: digits, text: 'once' })
    await world.database.pool.query(
      `UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = 'old'`,
    )
    const again = await send('old', { phone_number: digits, text: 'another body' })
    expect([again.status, isReplay(again)]).toEqual([200, false])
    expect(await sentTo(digits)).toBe(2)
  })

  it('is refused while the first request is in progress', async () => {
    await world.sim('POST', '/settings', { slow_ms: 400 })
    const digits = await newContact('000004')
    const first = send('slow', { phone_number: digits, text: 'once' })
    await expect.poll(() => sentTo(digits)).toBe(1)
    const second = await send('slow', { phone_number: digits, text: 'once' })
    expect(second.status).toBe(409)
    expect(second.body).toMatchObject({ success: false, error: 'Request in progress' })
    expect((await first).status).toBe(200)
    const third = await send('slow', { phone_number: digits, text: 'once' })
    expect([third.status, isReplay(third)]).toEqual([200, true])
    expect(await sentTo(digits)).toBe(1)
  })

  it('used by 20 concurrent requests sends one message', async () => {
    const digits = await newContact()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('twenty', { phone_number: digits, text: 'once' })),
    )
    for (const answer of answers) expect([200, 409]).toContain(answer.status)
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(await sentTo(digits)).toBe(1)
    expect((await conversation(world, organization, digits)).body.count).toBe(1)
  })
})

describe('the answer kept for an Idempotency-Key', () => {
  it('may be a rejection by the upstream', async () => {
    const digits = await newContact('000001')
    const first = await send('rejected', { phone_number: digits, text: 'x' })
    const again = await send('rejected', { phone_number: digits, text: 'x' })
    expect([again.status, isReplay(again)]).toEqual([400, true])
    expect(again.body).toEqual(first.body)
    expect((await conversation(world, organization, digits)).body.count).toBe(1)
  })

  it('is not a refusal before anything was sent', async () => {
    const digits = `5511${++people + 100}555555`
    const early = await send('early', { phone_number: digits, text: 'x' })
    expect(early.body.error).toBe('Contact not found')
    await createContact(world, organization, `+${digits}`)
    const again = await send('early', { phone_number: digits, text: 'x' })
    expect([again.status, isReplay(again)]).toEqual([200, false])
    expect((await send('bad', { phone_number: digits, text: '' })).status).toBe(400)
    expect((await send('bad', { phone_number: digits, text: 'good' })).status).toBe(200)
  })

  it('is an unknown outcome until the final result is known', async () => {
    await world.sim('POST', '/settings', { statuses: false })
    const digits = await newContact('000005')
    const first = await send('unknown', { phone_number: digits, text: 'x' })
    expect(first.body.error).toBe('Outcome unknown')
    const again = await send('unknown', { phone_number: digits, text: 'x' })
    expect([again.status, isReplay(again)]).toEqual([500, true])
    expect(again.body).toEqual(first.body)
    expect(await sentTo(digits)).toBe(1)

    await world.sim('POST', '/settings', { statuses: true })
    const [sent] = (await world.sim('GET', `/messages?to=${digits}`)).body.messages
    await report({ id: sent.id, status: 'sent', biz_opaque_callback_data: first.body.id })
    const settled = await send('unknown', { phone_number: digits, text: 'x' })
    expect([settled.status, isReplay(settled)]).toEqual([200, true])
    expect(settled.body).toMatchObject({
      success: true,
      data: {
        message_id: sent.id,
        recipient: digits,
        message_type: 'text',
        organization: organization.name,
        meta_response: { messaging_product: 'whatsapp', messages: [{ id: sent.id }] },
      },
    })
    expect((await send('unknown', { phone_number: digits, text: 'x' })).body).toEqual(settled.body)
    expect(await sentTo(digits)).toBe(1)
  })

  it('becomes the rejection if an unknown outcome turns out to have failed', async () => {
    await world.sim('POST', '/settings', { statuses: false })
    const digits = await newContact('000005')
    const first = await send('failed', { phone_number: digits, text: 'x' })
    await world.sim('POST', '/settings', { statuses: true })
    const errors = [{ code: 131026, title: 'Message undeliverable' }]
    await report({ id: 'wamid.failed', status: 'failed', errors, biz_opaque_callback_data: first.body.id })
    const settled = await send('failed', { phone_number: digits, text: 'x' })
    expect([settled.status, isReplay(settled)]).toEqual([400, true])
    expect(settled.body).toMatchObject({
      error: 'Upstream rejected message',
      upstream_code: 131026,
      details: 'Message undeliverable',
      id: first.body.id,
    })
  })
})

async function report(status: object): Promise<void> {
  const value = { statuses: [{ timestamp: '1750000000', ...status }] }
  await world.sim('POST', '/callback', { phone_number_id: organization.phoneNumberId, value })
  await world.drain()
}

describe('a send whose process died', () => {
  it('after the message was recorded has an unknown outcome with its id, and is not sent again', async () => {
    await world.sim('POST', '/settings', { statuses: false })
    const digits = await newContact()
    await send('died', { phone_number: digits, text: 'x' })
    await kill('died', '')
    const [before] = (await conversation(world, organization, digits)).body.messages
    await world.database.pool.query(
      `UPDATE messages SET outcome = 'pending', upstream_id = NULL, accepted_at = NULL WHERE id = $1`,
      [before.id],
    )
    for (let time = 0; time < 2; time++) {
      const answer = await send('died', { phone_number: digits, text: 'x' })
      expect([answer.status, isReplay(answer)]).toEqual([500, true])
      expect(answer.body).toMatchObject({ error: 'Outcome unknown', retryable: false, id: before.id })
    }
    await world.sim('POST', '/settings', { statuses: true })
    await report({ id: 'wamid.afterdeath', status: 'delivered', biz_opaque_callback_data: before.id })
    const settled = await send('died', { phone_number: digits, text: 'x' })
    expect(settled.body).toMatchObject({ success: true, data: { message_id: 'wamid.afterdeath' } })
    expect(await sentTo(digits)).toBe(1)
  })

  it('after the upstream accepted it returns the final result', async () => {
    const digits = await newContact()
    const first = await send('late', { phone_number: digits, text: 'x' })
    await kill('late', '')
    const again = await send('late', { phone_number: digits, text: 'x' })
    expect([again.status, isReplay(again)]).toEqual([200, true])
    expect(again.body.data.message_id).toBe(first.body.data.message_id)
    expect(await sentTo(digits)).toBe(1)
  })

  it('before the message was recorded is sent once by the next request', async () => {
    const digits = await newContact()
    await send('unborn', { phone_number: digits, text: 'x' })
    await kill('unborn', `, resource_id = '01a1fbdb-f2f0-727b-b64b-643e13b34149'`)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send('unborn', { phone_number: digits, text: 'x' })),
    )
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(await sentTo(digits)).toBe(2)
  })
})
