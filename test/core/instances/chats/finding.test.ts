import { beforeAll, expect, it } from 'vitest'
import { findChat, findChats } from '../../../../src/core/instances/chats/find-chats.js'
import { findContacts } from '../../../../src/core/instances/chats/find-contacts.js'
import { findMessages } from '../../../../src/core/instances/chats/find-messages.js'
import { requireInstance } from '../../../../src/core/instances/manage/find.js'
import { getOrganization } from '../../../../src/core/organizations/organizations.js'
import { insertMessages, moveToInstance } from '../../../support/conversations.js'
import { watchStatements } from '../../../support/devices.js'
import { createInstance, type TestInstance } from '../../../support/instances.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let phone: TestInstance

beforeAll(async () => {
  phone = await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
})

/** A person who wrote these texts to the instance. */
async function talk(number: string, texts: string[], full_name?: string): Promise<string> {
  const body = { phone_number: number, ...(full_name && { full_name }) }
  const { id } = (await world.request('POST', '/contact', { key: organization.key, body })).body.contact
  await insertMessages(world, id, texts)
  await moveToInstance(world, id, phone.id)
  return id
}

/** The context of the functions, with the number of runs of each statement. */
async function watch() {
  const { ctx } = world.app
  const { database, ran } = watchStatements(ctx.database)
  const tenant = await getOrganization(ctx, organization.id)
  const instance = await requireInstance(ctx, organization.id, 'phone')
  return { ctx: { ...ctx, database }, tenant, instance, ran }
}

it('a page of a complete conversation is a range of numbers; of an incomplete one it is counted from the nearer end', async () => {
  const number = '+16505550001'
  const contact = await talk(number, ['1', '2', '3', '4', '5'])
  const search = { keyId: null, remoteJid: number, fromMe: null, messageType: null, status: null, from: null, to: null }
  const find = async (page: number, limit: number) => {
    const { ctx, tenant, instance, ran } = await watch()
    const { messages, total } = await findMessages(ctx, tenant, instance, search, { page, limit })
    const asked = ['pageOfWholeConversation', 'countConversation.every']
    const pages = ['pageConversation.every.DESC', 'pageConversation.every.ASC']
    return [
      messages.map(({ text }) => text),
      total,
      [...asked, ...pages].map((name) => ran(`instanceMessages.${name}`)),
    ]
  }
  expect(await find(2, 2)).toEqual([['3', '2'], 5, [1, 0, 0, 0]])
  await moveToInstance(world, contact, crypto.randomUUID(), [5])
  expect(await find(2, 2)).toEqual([['2', '1'], 4, [0, 1, 1, 0]])
  expect(await find(2, 3)).toEqual([['1'], 4, [0, 1, 0, 1]])
  expect(await find(3, 2)).toEqual([[], 4, [0, 1, 0, 0]])
})

it('a chat is found by its newest message without counting', async () => {
  const number = '+16505550002'
  const contact = await talk(number, ['here', 'elsewhere'])
  await moveToInstance(world, contact, crypto.randomUUID(), [2])
  const { ctx, tenant, instance, ran } = await watch()
  expect((await findChat(ctx, tenant, instance, number))?.text).toBe('here')
  expect(ran('instanceMessages.countConversation.every')).toBe(0)
})

it('finding chats since a given time takes one query, however many older ones there are', async () => {
  const old = await talk('+16505550003', Array(1_500).fill('old'))
  await talk('+16505550004', ['new'])
  await world.database.pool.query('UPDATE messages SET created_at = $2 WHERE contact_id <> $1', [old, '2101-01-01'])
  const { ctx, tenant, instance, ran } = await watch()
  const search = { remoteJid: null, from: new Date('2100-01-01'), to: null, skip: 0, take: 10 }
  const found = await findChats(ctx, tenant, instance, search)
  expect(found.map(({ text }) => text)).toContain('new')
  expect(found.map(({ text }) => text)).not.toContain('old')
  expect(ran('instanceChats.scan.instance')).toBe(1)
})

it('contacts with a common name are scanned in order, those with a rare name looked up', async () => {
  for (const digit of ['5', '6', '7', '8']) await talk(`+1650555000${digit}`, [], `Maria ${digit}`)
  const find = async (pushName: string) => {
    const { ctx, tenant, ran } = await watch()
    const found = await findContacts(ctx, tenant, { id: null, remoteJid: null, pushName }, { page: 1, limit: 1 })
    return [found.map((one) => one.full_name), ['walkToFound', 'listFound'].map((name) => ran(`contactLists.${name}`))]
  }
  expect(await find('maria')).toEqual([['Maria 8'], [1, 0]])
  expect(await find('Maria 6')).toEqual([['Maria 6'], [0, 1]])
})
