import { expect, it } from 'vitest'
import { toNetworkId } from '../../../src/channels/linked-device/wire/own-id.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../src/storage/callbacks/callbacks.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

const query = (text: string, values: unknown[]) => world.database.pool.query(text, values)

/** A linked device reports a message that it or its phone has sent under this id. */
async function hear(instanceId: string, id: string, text: string): Promise<void> {
  const jid = '5511960501001@s.whatsapp.net'
  const event = {
    type: 'message',
    key: { remoteJid: jid, fromMe: true, id },
    chat: { jid, phone: '5511960501001', lid: null, name: null },
    sender: null,
    pushName: null,
    timestamp: 1_700_000_000,
    message: { conversation: text },
  }
  const body = Buffer.from(JSON.stringify({ object: 'linked_device', events: [event] }))
  const callback = { organizationId: organization.id, id: newId(), body, instanceId, traceparent: null }
  await insertCallbacks(world.database, [callback])
  await world.drain()
}

const messages = async () =>
  (await query('SELECT upstream_id, sender_type, text FROM messages WHERE organization_id = $1', [organization.id]))
    .rows

it('a message typed on the phone whose id could be ours is recorded once, unless it is ours', async () => {
  const instanceId = newId()
  await query(
    `INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash)
     VALUES ($1, $2, 'shop', 'linked_device', 'open', '', $3)`,
    [organization.id, instanceId, Buffer.from(instanceId)],
  )
  const typed = toNetworkId(newId())
  await hear(instanceId, typed, 'typed')
  await hear(instanceId, typed, 'typed')
  expect(await messages()).toEqual([{ upstream_id: typed, sender_type: 'human-chat', text: 'typed' }])

  const ours = newId()
  await query(`UPDATE messages SET id = $1, upstream_id = NULL, outcome = 'unknown', accepted_at = NULL`, [ours])
  await hear(instanceId, toNetworkId(ours), 'typed')
  expect(await messages()).toEqual([{ upstream_id: toNetworkId(ours), sender_type: 'human-chat', text: 'typed' }])
})
