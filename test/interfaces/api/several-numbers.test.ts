import { randomInt } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PLAIN } from '../../support/broadcasts.js'
import { receive, textMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { createInstance } from '../../support/instances.js'
import { type TestOrganization, useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
/** The organization as its second number, for callbacks. */
let second: TestOrganization
/** One that is in another business account. */
let foreignAccount: TestOrganization
let people = 0
let digits = ''

beforeAll(async () => {
  for (const one of [organization, other]) {
    expect((await world.request('POST', '/templates/sync', { key: one.key })).status).toBe(200)
  }
  second = await furtherOf(organization, 'second', organization.businessAccountId)
  foreignAccount = await furtherOf(organization, 'third', '777000111')
  await furtherOf(other, 'second', other.businessAccountId)
})

beforeEach(async () => {
  digits = `1650555${String(1_000 + ++people)}`
  await createContact(world, organization, `+${digits}`)
})

async function furtherOf(owner: TestOrganization, instanceName: string, businessId: string): Promise<TestOrganization> {
  const phoneNumberId = `30${randomInt(10 ** 9, 10 ** 10)}`
  const appSecret = `secret-of-${phoneNumberId}`
  const accessToken = `token-of-${phoneNumberId}`
  await createInstance(world, owner, { instanceName, number: phoneNumberId, accessToken, businessId, appSecret })
  return { ...owner, phoneNumberId, businessAccountId: businessId, appSecret, accessToken }
}

const send = (fields: object = {}) =>
  world.request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number: digits, message_type: 'text', text: 'hello', ...fields },
  })

const sendTemplate = (fields: object = {}) =>
  world.request('POST', '/send-template', {
    key: organization.key,
    body: { chatNumber: digits, templateName: PLAIN, ...fields },
  })

const writes = (to: TestOrganization, text = 'hello') => receive(world, to, { messages: [textMessage(digits, text)] })

/** The ids of the numbers from which messages went to the person, in order. */
async function sentFrom(to = digits): Promise<string[]> {
  const { body } = await world.sim('GET', '/messages?limit=1000')
  const sent: { to: string; phone_number_id: string }[] = body.messages
  return sent.filter((message) => message.to === to).map(({ phone_number_id }) => phone_number_id)
}

async function conversation() {
  const path = `/conversations?chatNumber=${digits}&ascending=true`
  return (await world.request('GET', path, { key: organization.key })).body.messages
}

describe('GET /numbers', () => {
  it("lists the organization's numbers, the first one first, and no other tenant's", async () => {
    const { status, body } = await world.request('GET', '/numbers', { key: organization.key })
    expect(status).toBe(200)
    expect(body.numbers).toMatchObject([
      { phone_number_id: organization.phoneNumberId, is_first: true, instance: null, messages_per_second: 0 },
      { phone_number_id: second.phoneNumberId, is_first: false, instance: 'second', messages_per_second: 80 },
      { phone_number_id: foreignAccount.phoneNumberId, is_first: false, instance: 'third' },
    ])
    const others = await world.request('GET', '/numbers', { key: other.key })
    expect(
      others.body.numbers.map(({ phone_number_id }: { phone_number_id: string }) => phone_number_id),
    ).not.toContain(second.phoneNumberId)
  })
})

describe('the number that sends', () => {
  it('is the first for who has written to none', async () => {
    expect((await send()).status).toBe(200)
    expect((await sendTemplate()).body.success).toBe(true)
    expect(await sentFrom()).toEqual([organization.phoneNumberId, organization.phoneNumberId])
  })

  it('is the one that the contact last wrote to', async () => {
    await writes(second)
    await send()
    await sendTemplate()
    await writes(organization)
    await send()
    const [first, further] = [organization.phoneNumberId, second.phoneNumberId]
    expect(await sentFrom()).toEqual([further, further, first])
    const numbers = (await conversation()).map(
      (message: { business_number: { phone_number_id: string } }) => message.business_number.phone_number_id,
    )
    expect(numbers).toEqual([further, further, further, first, first])
  })

  it('is the one of the answered message', async () => {
    await writes(organization, 'first')
    await writes(second, 'second')
    const [asked] = await conversation()
    expect((await send({ context_message_id: asked.message_id })).status).toBe(200)
    expect(await sentFrom()).toEqual([organization.phoneNumberId])
  })

  it('is the one that is given, by its id or its phone number', async () => {
    const display = '+1 (650) 555-0199'
    await world.database.pool.query(
      `INSERT INTO number_states (organization_id, phone_number_id, facts) VALUES ($1, $2, $3)
       ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET facts = excluded.facts`,
      [organization.id, second.phoneNumberId, JSON.stringify({ display_phone_number: display })],
    )
    expect((await send({ from: second.phoneNumberId })).status).toBe(200)
    expect((await send({ from: '1 650 555 0199' })).status).toBe(200)
    expect((await sendTemplate({ from: display })).body.success).toBe(true)
    await writes(second)
    expect((await send({ from: organization.phoneNumberId })).status).toBe(200)
    const further = second.phoneNumberId
    expect(await sentFrom()).toEqual([further, further, further, organization.phoneNumberId])
    const [message] = await conversation()
    expect(message.business_number).toEqual({ phone_number_id: further, phone_number: '+16505550199' })
  })

  it.each([
    ['nobody has', () => '123456789'],
    ['another tenant has', () => other.phoneNumberId],
  ])('is refused if %s it', async (_name, number) => {
    const from = number()
    for (const answer of [
      await send({ from }),
      await sendTemplate({ from }),
      await send({ from, scheduled_at: new Date(world.now().getTime() + 3_600_000).toISOString() }),
      await world.request('POST', '/broadcasts', {
        key: organization.key,
        body: { name: 'News', templateName: PLAIN, audience: { all: true }, from },
      }),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ error: 'Invalid field' })
      expect(answer.body.message).toContain(`from "${from}"`)
      expect(answer.body.message).toContain(second.phoneNumberId)
    }
    expect(await sentFrom()).toEqual([])
  })

  it('is refused for a template of another business account, and not taken by default', async () => {
    const refused = await sendTemplate({ from: foreignAccount.phoneNumberId })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('business account')
    await writes(foreignAccount)
    expect((await sendTemplate()).body.success).toBe(true)
    expect((await send()).status).toBe(200)
    expect(await sentFrom()).toEqual([organization.phoneNumberId, foreignAccount.phoneNumberId])
  })

  it('excludes an instance', async () => {
    const answer = await send({ from: second.phoneNumberId, instance: 'second' })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
  })

  it('is kept for what is sent later', async () => {
    const at = new Date(world.now().getTime() + 60_000).toISOString()
    expect((await send({ from: second.phoneNumberId, scheduled_at: at })).status).toBe(202)
    expect((await sendTemplate({ from: second.phoneNumberId, scheduled_at: at })).status).toBe(202)
    const { body } = await world.request('GET', `/scheduled?chatNumber=${digits}`, { key: organization.key })
    expect(body.scheduled.map(({ instance }: { instance: string }) => instance)).toEqual(['second', 'second'])
  })
})

describe('limits of a number', () => {
  /** Delays messages of the second number to the contact. */
  const pace = async (ahead: string) => {
    const { pool } = world.database
    const contact = 'SELECT id FROM contact_addresses JOIN contacts c ON c.id = contact_id WHERE address = $1'
    await pool.query(
      `UPDATE contacts SET paces = jsonb_build_object((SELECT id::text FROM instances WHERE organization_id = $2 AND name = 'second'),
         now() + $3::interval) WHERE id = (${contact})`,
      [digits, organization.id, ahead],
    )
  }

  it('per recipient do not delay another number', async () => {
    await pace('5 minutes')
    expect((await send({ from: second.phoneNumberId })).status).toBe(429)
    expect((await send()).status).toBe(200)
    expect(await sentFrom()).toEqual([organization.phoneNumberId])
  })

  it('per recipient ignore a time that no messages can have led to', async () => {
    await pace('2 hours')
    expect((await send({ from: second.phoneNumberId })).status).toBe(200)
    expect(await sentFrom()).toEqual([second.phoneNumberId])
  })
})

describe('a webhook', () => {
  it('tells the number of a message', async () => {
    await writes(second, 'to the second')
    const { body } = await world.request('GET', '/events?limit=100&types=message.received', { key: organization.key })
    const event = body.events.find(
      ({ data }: { data: { message: { message: string } } }) => data.message.message === 'to the second',
    )
    expect(event.data.message.business_number.phone_number_id).toBe(second.phoneNumberId)
  })
})

describe('a broadcast', () => {
  const create = async (fields: object) => {
    const answer = await world.request('POST', '/broadcasts', {
      key: organization.key,
      body: { name: 'News', templateName: PLAIN, ...fields },
    })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    await world.drain()
    return (await world.request('GET', `/broadcasts/${answer.body.broadcast.id}`, { key: organization.key })).body
      .broadcast
  }

  it('sends to each from the number that it last wrote to', async () => {
    const [a, c] = [digits, `1650556${String(1_000 + people)}`]
    await createContact(world, organization, `+${c}`)
    await writes(second)
    const broadcast = await create({ audience: { recipients: [{ chatNumber: a }, { chatNumber: c }] } })
    expect(broadcast).toMatchObject({ from: null, totalRecipients: 2 })
    expect(await sentFrom(a)).toEqual([second.phoneNumberId])
    expect(await sentFrom(c)).toEqual([organization.phoneNumberId])
  })

  it('sends to all from the number that is given', async () => {
    await writes(organization)
    const broadcast = await create({ audience: { recipients: [{ chatNumber: digits }] }, from: second.phoneNumberId })
    expect(broadcast.from).toBe(second.phoneNumberId)
    expect(await sentFrom()).toEqual([second.phoneNumberId])
  })

  it('is not slowed down by a number that is busy', async () => {
    const c = `1650557${String(1_000 + people)}`
    await createContact(world, organization, `+${c}`)
    await writes(second)
    await world.database.pool.query(
      `INSERT INTO sending_paces (organization_id, phone_number_id, paced_until) VALUES ($1, $2, now() + interval '1 minute')
       ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET paced_until = excluded.paced_until`,
      [organization.id, second.phoneNumberId],
    )
    await create({ audience: { recipients: [{ chatNumber: digits }, { chatNumber: c }] } })
    expect(await sentFrom(c)).toEqual([organization.phoneNumberId])
    expect(await sentFrom()).toEqual([])
    await world.database.pool.query('DELETE FROM sending_paces')
  })
})

describe('a number that is removed', () => {
  const remove = (owner: TestOrganization, id: string) =>
    world.admin('DELETE', `/organizations/${owner.id}/numbers/${id}`)

  it('is refused while something is to be sent from it, for the first one, and for another tenant', async () => {
    const at = new Date(world.now().getTime() + 3_600_000).toISOString()
    await send({ from: second.phoneNumberId, scheduled_at: at })
    const inUse = await remove(organization, second.phoneNumberId)
    expect([inUse.status, inUse.body.error]).toEqual([409, 'Number in use'])
    expect((await remove(organization, organization.phoneNumberId)).status).toBe(400)
    expect((await remove(other, second.phoneNumberId)).status).toBe(404)
  })

  it('leaves its conversations, which are answered from the first one', async () => {
    const gone = await furtherOf(organization, 'gone', organization.businessAccountId)
    await writes(gone)
    expect((await remove(organization, gone.phoneNumberId)).status).toBe(200)
    expect((await send()).status).toBe(200)
    const messages = await conversation()
    expect(messages.map((message: { business_number: unknown }) => message.business_number !== null)).toEqual([
      false,
      true,
    ])
    const listed = await world.admin('GET', `/organizations/${organization.id}/numbers`)
    expect(listed.body.numbers).toHaveLength(3)
  })
})
