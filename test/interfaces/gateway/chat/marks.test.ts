import { beforeAll, expect, it } from 'vitest'
import { receiveMessages, textMessage, type WireMessage } from '../../../support/callbacks.js'
import { contact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { json, startHttpServer } from '../../../support/http-server.js'
import { createInstance } from '../../../support/instances.js'
import { watchPlans } from '../../../support/plans.js'
import { useStarted } from '../../../support/started.js'
import { useOrganization, useWorld } from '../../../support/world.js'

/** A message whose read mark the upstream refuses. */
const REFUSED = 'wamid.REFUSED'

const upstream = useStarted(() =>
  startHttpServer((request, response) => {
    const isRefused = request.body.includes(REFUSED)
    const error = { code: 131009, message: 'title', error_data: { details: 'too old' } }
    json(isRefused ? 400 : 200, isRefused ? { error } : { success: true })(request, response)
  }),
)
const world = useWorld(() => ({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
const organization = useOrganization(world)

beforeAll(async () => {
  await createInstance(world, organization)
})

/** Receives `count` messages of one person; the last one may have a given id. Resolves to their ids. */
async function receiveFrom(number: string, count: number, last: WireMessage = {}): Promise<string[]> {
  const messages = Array.from({ length: count }, (_, index) =>
    textMessage(number, `message ${index + 1}`, index === count - 1 ? last : {}),
  )
  await receiveMessages(world, organization, ...messages)
  return messages.map(({ id }) => String(id))
}

const markRead = (ids: string[]) =>
  world.request('POST', '/gateway/chat/markMessageAsRead/shop', {
    key: organization.key,
    body: { readMessages: ids.map((id) => ({ id })) },
  })

/** The messages marked as read at the upstream since; other requests are left out. */
const marked = (since: number) =>
  upstream.taken
    .slice(since)
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.parse(String(body)).message_id)

const isUnread = async (number: string) => (await contact(world, organization, number)).body.contact.has_unread_messages

it('marks only the newest message of each conversation at the upstream', async () => {
  const since = upstream.taken.length
  const [ana, ben] = [await receiveFrom('16505550001', 3), await receiveFrom('16505550002', 2)]
  const { status, body } = await markRead([...ana, ...ben].reverse())
  expect(status, JSON.stringify(body)).toBe(201)
  expect(marked(since).sort()).toEqual([ana[2], ben[1]].sort())
  const { messages } = (await conversation(world, organization, '16505550001')).body
  expect(messages.map((one: { message_status: string }) => one.message_status)).toEqual(['read', 'read', 'read'])
  expect([await isUnread('16505550001'), await isUnread('16505550002')]).toEqual([false, false])
})

it('reports a refusal, and still marks the other conversations', async () => {
  const since = upstream.taken.length
  const [refused = ''] = await receiveFrom('16505550003', 1, { id: REFUSED })
  const [taken = ''] = await receiveFrom('16505550004', 1)
  const { status, body } = await markRead([refused, taken])
  expect([status, body.response.upstream_code]).toEqual([400, 131009])
  expect(marked(since)).toEqual([refused, taken])
  expect([await isUnread('16505550003'), await isUnread('16505550004')]).toEqual([true, false])
})

it('looks up many messages with one query', async () => {
  const ids = await receiveFrom('16505550011', 30)
  const one = await receiveFrom('16505550012', 1)
  const unknown = Array.from({ length: 400 }, (_, index) => `wamid.UNKNOWN${index}`)
  const explain = await watchPlans(world.database)
  const readsOf = async (keys: string[]) => {
    const plans = await explain(async () => expect((await markRead(keys)).status).toBe(201))
    return plans.filter(({ nodes }) => nodes.includes(' on messages:')).length
  }
  expect(await readsOf([...ids, ...unknown])).toBe(await readsOf(one))
  expect(await isUnread('16505550011')).toBe(false)
})
