import { beforeAll, describe, expect, it } from 'vitest'
import { undoMergeOf } from '../../../../src/core/contacts/resolution/undo-merge.js'
import { prune } from '../../../../src/core/maintenance/maintenance.js'
import { receive, seconds, textMessage, type WireMessage, wamid } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOf } from '../../../support/rows/events.js'
import { loadStatements } from '../../../support/statements.js'
import { insertDelivery, setWebhook } from '../../../support/webhooks.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId, take, texts } = peopleOf(() => ({ world, organization }))
let agent: SignedInMember

beforeAll(async () => {
  agent = await signIn(world, organization, { role: 'agent' })
  await world.sim('POST', '/settings', { statuses: false })
})

const call = (method: string, path: string, body?: object) =>
  world.request(method, path, { key: organization.key, ...(body && { body }) })
const find = async (query: string) => (await call('GET', `/contact?${query}`)).body.contact
const hidden = (from_user_id: string, text: string, fields: WireMessage = {}): WireMessage => {
  const { from: _, ...message } = textMessage('', text, { from_user_id, ...fields })
  return message
}
const mergesOf = async (contactId: string) => (await agent.call('GET', `/contacts/${contactId}/merges`)).body.merges
const undo = (mergeId: string) => agent.call('POST', `/merges/${mergeId}/undo`, { body: {} })
async function undoLast(contactId: string) {
  const [merge] = await mergesOf(contactId)
  expect((await undo(merge.id)).status).toBe(200)
}

/** A person who wrote under a number, another one who wrote under a user id, and their messages. */
async function twoPeople() {
  const [number, userId] = [newNumber(), newUserId()]
  const [ofNumber, ofId] = [textMessage(number, 'number 1'), hidden(userId, 'id 1')]
  await take(ofNumber, ofId)
  const [kept, gone] = [await find(`phone_number=${number}`), await find(`user_id=${userId}`)]
  return { number, userId, ofNumber, ofId, kept, gone }
}
const meet = ({ number, userId }: { number: string; userId: string }, text = 'both') =>
  take(textMessage(number, text, { from_user_id: userId, timestamp: seconds(10) }))

/** All that is stored of a contact, except when it was stored. The pair limits and the search catch up by themselves. */
async function rowsOf(contactId: string) {
  const { rows } = await world.database.pool.query(
    `SELECT to_jsonb(c) - '{updated_at,searchable_seq,paced_until,paces}'::text[] AS contact,
       (SELECT jsonb_agg(to_jsonb(a) - 'added_at' ORDER BY address) FROM contact_addresses a
        WHERE a.organization_id = $1 AND a.contact_id = c.id) AS addresses,
       (SELECT jsonb_agg(to_jsonb(s) ORDER BY id) FROM contact_address_spans s
        WHERE s.organization_id = $1 AND s.contact_id = c.id) AS spans,
       (SELECT active_at FROM contact_activity a WHERE a.organization_id = $1 AND a.contact_id = c.id) AS active,
       (SELECT username FROM contact_usernames u WHERE u.organization_id = $1 AND u.contact_id = c.id) AS username,
       (SELECT jsonb_agg(jsonb_build_array(m.id, m.seq) ORDER BY id) FROM messages m
        WHERE m.organization_id = $1 AND m.contact_id = c.id) AS messages,
       (SELECT jsonb_agg(to_jsonb(n) ORDER BY id) FROM notes n
        WHERE n.organization_id = $1 AND n.contact_id = c.id) AS notes
     FROM contacts c WHERE c.organization_id = $1 AND c.id = $2`,
    [organization.id, contactId],
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

/** Gives a contact all that a merge may take from it. */
async function furnish(contact: { id: string; chat_id: string }, message: WireMessage, name: string): Promise<void> {
  const changes = {
    full_name: name,
    email: `${name}@example.com`,
    tags: [name],
    bot_status: 'paused',
    allow_broadcast: false,
    blocked: false,
    contact_summary: `about ${name}`,
  }
  expect((await call('PATCH', `/contact?chat_id=${contact.chat_id}`, changes)).status).toBe(200)
  await agent.call('PUT', `/contacts/${contact.id}/assignee`, { body: { member_id: agent.member.id } })
  await agent.call('POST', `/contacts/${contact.id}/notes`, { body: { text: `note on ${name}` } })
  const person = message.from === undefined ? { from_user_id: message.from_user_id } : { from: message.from }
  const reaction = { message_id: message.id, emoji: '👍' }
  await take({ ...person, id: wamid(), timestamp: seconds(3), type: 'reaction', reaction })
}

describe('an undo restores both contacts completely', () => {
  it.each([
    ['seen together', 'the one with the number', 'kept'],
    ['seen together', 'the one with the number', 'gone'],
    ['seen together', 'the one with the id', 'kept'],
    ['seen together', 'the one with the id', 'gone'],
    ['announced', 'the one with the old id', 'kept'],
    ['announced', 'the one with the old id', 'gone'],
    ['announced', 'the one with the new id', 'kept'],
    ['announced', 'the one with the new id', 'gone'],
  ])('%s; %s is older, and the %s one has more to lose', async (cause, older, rich) => {
    const [first, second] = [cause === 'announced' ? newUserId() : newNumber(), newUserId()]
    const ofFirst = cause === 'announced' ? hidden(first, 'first') : textMessage(first, 'first')
    const ofSecond = hidden(second, 'second', { timestamp: seconds(1) })
    const isFirstOlder = older === 'the one with the number' || older === 'the one with the old id'
    await take(...(isFirstOlder ? [ofFirst, ofSecond] : [ofSecond, ofFirst]))
    const people = [
      { contact: await find(cause === 'announced' ? `user_id=${first}` : `phone_number=${first}`), message: ofFirst },
      { contact: await find(`user_id=${second}`), message: ofSecond },
    ].sort((a, b) => (a.contact.id < b.contact.id ? -1 : 1))
    const [kept, gone] = people as [(typeof people)[0], (typeof people)[0]]
    const { contact, message } = rich === 'kept' ? kept : gone
    await furnish(contact, message, `${cause} ${older} ${rich}`.replaceAll(' ', '.'))
    const chatId = people.find((one) => one.message === ofFirst)?.contact.chat_id
    const sent = await call('POST', '/send-chat', { phone_number: chatId, message_type: 'text', text: 'hello' })
    const before = [await rowsOf(kept.contact.id), await rowsOf(gone.contact.id)]
    if (cause === 'announced') {
      const user_id = { previous: first, current: second }
      await receive(world, organization, { user_id_update: [{ user_id, timestamp: Number(seconds(10)) }] })
    } else {
      const status = { id: sent.body.data.message_id, status: 'delivered', timestamp: seconds(10) }
      await receive(world, organization, {
        statuses: [{ ...status, recipient_id: first, recipient_user_id: second }],
      })
    }
    await undoLast(kept.contact.id)
    expect([await rowsOf(kept.contact.id), await rowsOf(gone.contact.id)]).toEqual(before)
  })

  it('so that each is still the sender from its address', async () => {
    // The notice says that the person of the number has the id of the other one now.
    const [number, userId] = [newNumber(), newUserId()]
    await take(hidden(userId, 'id 1'), textMessage(number, 'number 1'))
    const [kept, gone] = [await find(`user_id=${userId}`), await find(`phone_number=${number}`)]
    const system = { type: 'user_changed_number', body: `User changed from ${number}`, user_id: userId }
    await take({ from: number, id: wamid(), timestamp: seconds(10), type: 'system', system })
    expect(await find(`user_id=${userId}`)).toMatchObject({ id: kept.id, phone_number: `+${number}` })
    await undoLast(kept.id)
    await take(
      textMessage(number, 'number 2', { timestamp: seconds(20) }),
      hidden(userId, 'id 2', { timestamp: seconds(20) }),
    )
    expect(await find(`phone_number=${number}`)).toMatchObject({ id: gone.id })
    expect(await texts(number)).toEqual(['number 1', 'number 2'])
    expect((await texts(kept.chat_id)).at(-1)).toBe('id 2')
  })
})

it('reactions, edits and deletions that came later go back with the message that they are about', async () => {
  const { number, userId, ofId, kept, gone } = await twoPeople()
  await meet({ number, userId })
  const person = { from_user_id: userId, timestamp: seconds(20) }
  await take(
    { ...person, id: wamid(), type: 'reaction', reaction: { message_id: ofId.id, emoji: '👍' } },
    { ...person, id: wamid(), type: 'revoke', revoke: { original_message_id: 'wamid.of-a-later-one' } },
    {
      ...person,
      id: wamid(),
      type: 'edit',
      edit: { original_message_id: ofId.id, message: { type: 'text', text: { body: 'id 1, edited' } } },
    },
  )
  await undoLast(kept.id)
  const { messages } = (await agent.call('GET', `/contacts/${gone.id}/messages`)).body
  expect(messages).toMatchObject([{ message: 'id 1, edited', reactions: [{ emoji: '👍' }] }])
  const { rows } = await world.database.pool.query(
    `SELECT contact_id, message_type FROM messages
     WHERE organization_id = $1 AND contact_id = ANY ($2) AND seq IS NULL ORDER BY message_type`,
    [organization.id, [kept.id, gone.id]],
  )
  expect(rows).toEqual([
    { contact_id: gone.id, message_type: 'edit' },
    { contact_id: gone.id, message_type: 'reaction' },
    { contact_id: kept.id, message_type: 'revoke' },
  ])
})

describe('who is erased after an undo', () => {
  /** Everything about contacts that the APIs show to others than the contact. */
  async function allShown(): Promise<string> {
    const paths = ['/events?limit=1000', '/webhook-deliveries?limit=100', '/contacts/export?format=json']
    const answers = await Promise.all([...paths, '/conversations/export?format=json'].map((path) => call('GET', path)))
    const { rows } = await world.database.pool.query(
      `SELECT data::text FROM events WHERE organization_id = $1
       UNION ALL SELECT attempts::text FROM webhook_deliveries WHERE organization_id = $1`,
      [organization.id],
    )
    return JSON.stringify([answers.map(({ status, body }) => [status, body]), rows])
  }

  /** What of both is still to be seen. */
  async function tracesOf(own: { kept: string; gone: string }, { number, userId }: { number: string; userId: string }) {
    const shown = await allShown()
    return [own.kept, `${own.kept} together`, number, own.gone, userId].filter((trace) => shown.includes(trace))
  }

  /** Two people, with words of their own everywhere, whose merge was undone; their events have been sent to a webhook. */
  async function separated(own: { kept: string; gone: string }, status: 'delivered' | 'pending' = 'delivered') {
    const two = await twoPeople()
    const { number, userId, ofId } = two
    const names = { kept: { wa_id: number }, gone: { user_id: userId } }
    for (const who of ['kept', 'gone'] as const) {
      const message = who === 'kept' ? textMessage(number, own.kept) : hidden(userId, own.gone)
      const contacts = [{ profile: { name: `Name of ${own[who]}` }, ...names[who] }]
      await receive(world, organization, { contacts, messages: [message] })
    }
    await meet(two, `${own.kept} together`)
    const edit = { original_message_id: ofId.id, message: { type: 'text', text: { body: `${own.gone}, edited` } } }
    await take({ from_user_id: userId, id: wamid(), timestamp: seconds(20), type: 'edit', edit })
    const webhook = await setWebhook(world, organization)
    for (const { id, data } of await eventsOf(world, organization)) {
      const attempt = { at: '2026-01-01T00:00:00Z', response_status: 200, error: null, duration_ms: 1 }
      const attempts = [{ ...attempt, response_body: JSON.stringify(data) }]
      await insertDelivery(world, organization, webhook.id, { eventId: id, attempts, status })
    }
    await world.database.pool.query('UPDATE webhook_deliveries SET attempted_at = $2 WHERE webhook_id = $1', [
      webhook.id,
      world.now(),
    ])
    await undoLast(two.kept.id)
    return two
  }

  async function erase(query: string) {
    expect((await call('DELETE', `/contact?${query}`)).status).toBe(200)
    await world.drain()
  }

  it('is forgotten if it is the one that came back, and the other one stays', async () => {
    const own = { kept: 'Kranich', gone: 'Gimpel' }
    const { userId, number } = await separated(own)
    expect(await tracesOf(own, { number, userId })).toHaveLength(5)
    await erase(`user_id=${userId}`)
    expect(await tracesOf(own, { number, userId })).toEqual([own.kept, `${own.kept} together`, number])
  })

  it.each([
    ['delivered', { kept: 'Kuckuck', gone: 'Girlitz' }],
    ['pending', { kept: 'Kleiber', gone: 'Goldammer' }],
  ] as const)('is forgotten if it is the one that was kept, and the other one stays: %s', async (status, own) => {
    const { userId, number } = await separated(own, status)
    await erase(`phone_number=${number}`)
    expect(await tracesOf(own, { number, userId })).toEqual([own.gone, userId])
    const received = (await eventsOf(world, organization, 'message.received')).map(({ data }) => data.message?.text)
    expect(received).toContain(own.gone)
  })
})

it('deliveries that wait go on for each contact by itself', async () => {
  const webhook = await setWebhook(world, organization, { events: ['message.received'] })
  const { number, userId, kept, gone } = await twoPeople()
  await world.settle()
  await meet({ number, userId })
  await undoLast(kept.id)
  const { rows } = await world.database.pool.query(
    `SELECT d.contact_id, m.text, d.next_attempt_at IS NOT NULL AS due
     FROM webhook_deliveries d JOIN events e ON e.organization_id = d.organization_id AND e.seq = d.event_seq
       LEFT JOIN messages m ON m.organization_id = e.organization_id AND m.id = e.message_id
     WHERE d.organization_id = $1 AND d.webhook_id = $2 AND d.status = 'pending' AND d.contact_id = ANY ($3)
     ORDER BY d.event_seq`,
    [organization.id, webhook.id, [kept.id, gone.id]],
  )
  expect(rows.filter(({ contact_id }) => contact_id === gone.id)).toEqual([
    { contact_id: gone.id, text: 'id 1', due: true },
  ])
  expect(rows.filter(({ contact_id }) => contact_id === kept.id)[0]).toMatchObject({ text: 'number 1', due: true })
})

describe('two contacts that were separated', () => {
  const change = (previous: string, current: string, at: string) => ({
    user_id_update: [{ user_id: { previous, current }, timestamp: Number(at) }],
  })

  it('stay apart if the same notice comes again, and become one by a newer one', async () => {
    const [before, after] = [newUserId(), newUserId()]
    await take(hidden(before, 'one'), hidden(after, 'two', { timestamp: seconds(1) }))
    const [kept, gone] = [await find(`user_id=${before}`), await find(`user_id=${after}`)]
    await receive(world, organization, change(before, after, seconds(10)))
    expect(await find(`user_id=${after}`)).toMatchObject({ id: kept.id })
    await undoLast(kept.id)
    const rows = [await rowsOf(kept.id), await rowsOf(gone.id)]
    await receive(world, organization, change(before, after, seconds(10)))
    expect([await rowsOf(kept.id), await rowsOf(gone.id)]).toEqual(rows)
    const later = String(Math.floor(world.now().getTime() / 1_000) + 5)
    await receive(world, organization, change(before, after, later))
    expect(await find(`user_id=${after}`)).toMatchObject({ id: kept.id })
  })

  it('stay apart after one of them was part of a third one', async () => {
    const [oldest, middle, number] = [newUserId(), newNumber(), newUserId()]
    // Of the middle one (a number), the one with the id is separated; then it becomes part of the oldest one.
    await take(hidden(oldest, 'oldest'), textMessage(middle, 'middle'), hidden(number, 'youngest'))
    const [third, kept] = [await find(`user_id=${oldest}`), await find(`phone_number=${middle}`)]
    await meet({ number: middle, userId: number })
    await undoLast(kept.id)
    const youngest = await find(`user_id=${number}`)
    await receive(world, organization, change(number, oldest, seconds(20)))
    expect(await find(`user_id=${number}`)).toMatchObject({ id: third.id })
    await undoLast(third.id)
    const { rows } = await world.database.pool.query(
      `SELECT gone_id FROM contact_merges WHERE organization_id = $1 AND kept_id = $2 AND undone_at IS NOT NULL`,
      [organization.id, kept.id],
    )
    expect(rows).toEqual([{ gone_id: youngest.id }])
  })
})

describe('a merge with many messages', () => {
  /** Gives a contact so many messages after those that it has. */
  async function fill(contactId: string, count: number) {
    await world.database.pool.query(
      `WITH c AS (
         UPDATE contacts SET last_seq = last_seq + $3 WHERE organization_id = $1 AND id = $2 RETURNING last_seq - $3 AS before
       )
       INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at)
       SELECT $1, gen_random_uuid(), $2, c.before + n, 'user-chat', 'text', 'more', 'delivered', now()
       FROM c, generate_series(1, $3::int) AS n`,
      [organization.id, contactId, count],
    )
  }

  it('is not undone, and says why', async () => {
    const two = await twoPeople()
    await meet(two)
    await fill(two.kept.id, 20_000)
    const [merge] = await mergesOf(two.kept.id)
    const refused = await undo(merge.id)
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        error: 'Merge too large',
        message:
          '20002 messages would move back or get another number, and at most 20000 can: the two stay one contact',
      },
    ])
    expect(await find(`user_id=${two.userId}`)).toMatchObject({ id: two.kept.id })
  })

  it('is undone if none of them moves', async () => {
    const number = newNumber()
    await take(textMessage(number, 'number 1'))
    const userId = newUserId()
    const { body } = await call('POST', '/contact', { user_id: userId })
    const kept = await find(`phone_number=${number}`)
    await meet({ number, userId })
    await fill(kept.id, 20_001)
    const [merge] = await mergesOf(kept.id)
    const restored = await undoMergeOf(world.app.ctx, organization.id, merge.id)
    expect(restored.id).toBe(body.contact.id)
  })
})

it('every column of a contact is restored or known not to be', async () => {
  const { rows } = await world.database.pool.query<{ column_name: string }>(
    "SELECT column_name FROM information_schema.columns WHERE table_name = 'contacts' AND table_schema = 'public'",
  )
  const restore = (await loadStatements()).find(({ name }) => name === 'unmerges.restoreGone')?.text ?? ''
  const [, listed = ''] = /INSERT INTO contacts \(([^)]*)\)/.exec(restore) ?? []
  const restored = listed.split(',').map((name) => name.trim())
  // Those that begin anew, and that of groups, which are never merged.
  const others = rows.map(({ column_name }) => column_name).filter((name) => !restored.includes(name))
  expect(others.sort()).toEqual(['business_group', 'paced_until', 'paces', 'searchable_seq', 'updated_at'])
})

it('a merge is forgotten when it can no longer be undone, unless a hold is on; that two were separated is kept', async () => {
  const [first, second] = [await twoPeople(), await twoPeople()]
  await meet(first)
  await meet(second)
  await undoLast(second.kept.id)
  const hold = (legalHold: string | null) =>
    world.database.pool.query('UPDATE organization_rows SET legal_hold = $2 WHERE id = $1', [
      organization.id,
      legalHold,
    ])
  const known = async () => {
    const { rows } = await world.database.pool.query(
      'SELECT kept_id FROM contact_merges WHERE organization_id = $1 AND kept_id = ANY ($2) ORDER BY kept_id',
      [organization.id, [first.kept.id, second.kept.id]],
    )
    return rows.map(({ kept_id }) => kept_id)
  }
  world.advance(31 * 86_400_000)
  await hold('{"reason": "claim", "by": "Ana", "since": "2026-01-01T00:00:00Z"}')
  await prune(world.app.work)
  expect(await known()).toEqual([first.kept.id, second.kept.id])
  await hold(null)
  await prune(world.app.work)
  expect(await known()).toEqual([second.kept.id])
})
