import { beforeEach, describe, expect, it } from 'vitest'
import { receive } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  await world.sim('POST', '/settings', { hold_templates: true })
  organization = await world.createOrganization()
  await createContact(world, organization, ANA)
  expect((await world.request('POST', '/templates/sync', { key: organization.key })).status).toBe(200)
  const body = { templateName: 'hello_world', chatNumber: ANA }
  const sent = await world.request('POST', '/send-template', { key: organization.key, body })
  expect(sent.status, JSON.stringify(sent.body)).toBe(200)
  await world.settle()
})

const message = async () => (await conversation(world, organization, ANA)).body.messages[0]

async function report(status: string, fields: object = {}, at = organization): Promise<void> {
  const { message_id: id } = await message()
  const timestamp = String(Math.floor(world.now().getTime() / 1_000))
  await receive(world, at, { statuses: [{ id, status, timestamp, recipient_id: ANA, ...fields }] })
}

describe('a template that the upstream holds back', () => {
  it('is sent, and its outcome is held', async () => {
    expect(await message()).toMatchObject({ message_status: 'sent', outcome: 'held', error: null })
    const { body } = await world.request('GET', '/events?types=message.sent', { key: organization.key })
    expect(body.events).toMatchObject([{ data: { message: { message_status: 'sent', outcome: 'held' } } }])
  })

  it.each(['sent', 'delivered', 'read'])('is not held any more once it is reported as %s', async (status) => {
    await report(status)
    expect(await message()).toMatchObject({ message_status: status, outcome: null })
    expect(await eventsOf(world, organization, 'message.sent')).toHaveLength(1)
  })

  it('fails if the upstream drops it hours later', async () => {
    await report('failed', { errors: [{ code: 132_015, title: 'Template is paused' }] })
    expect(await message()).toMatchObject({ message_status: 'failed', outcome: null, error: { code: 132_015 } })
  })

  it('is not held or sent once more if version 1.0, which knows nothing of it, has recorded its delivery', async () => {
    await world.database.pool.query(`UPDATE messages SET status = 'delivered' WHERE organization_id = $1`, [
      organization.id,
    ])
    expect(await message()).toMatchObject({ message_status: 'delivered', outcome: null })
    await report('sent')
    expect(await message()).toMatchObject({ message_status: 'delivered', outcome: null })
  })

  it('is not changed by a status of another organization', async () => {
    await report('delivered', {}, await world.createOrganization())
    expect(await message()).toMatchObject({ message_status: 'sent', outcome: 'held' })
  })
})
