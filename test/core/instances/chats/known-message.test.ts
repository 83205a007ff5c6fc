import { afterEach, beforeEach, expect, it } from 'vitest'
import { findContentToResend, findKnownMessage } from '../../../../src/core/instances/chats/known-message.js'
import { createContact } from '../../../support/contacts.js'
import { insertMessages } from '../../../support/conversations.js'
import { type Devices, startDevices, startDeviceWorld, type TestInstance } from '../../../support/devices.js'
import { useStarted } from '../../../support/started.js'

const world = useStarted(startDeviceWorld)
let devices: Devices
let instance: TestInstance

beforeEach(async () => {
  devices = await startDevices(world)
  instance = await devices.createInstance(false)
})

afterEach(() => devices.close())

/** A stored message of the instance; resolves to its id on the network. */
async function record(type: string, text: string, network: object | null): Promise<string> {
  const { world, organization } = devices
  const contactId = await createContact(world, organization, '+5511960309001')
  const [upstreamId = ''] = await insertMessages(world, contactId, ['x'])
  await world.database.pool.query(
    'UPDATE messages SET instance_id = $2, message_type = $3, text = $4, network = $5 WHERE upstream_id = $1',
    [upstreamId, instance.id, type, text, network],
  )
  return upstreamId
}

const ask = (find: typeof findContentToResend | typeof findKnownMessage, upstreamId: string) =>
  find(devices.world.app.ctx, instance.organization_id, instance.id, upstreamId)

it.each([
  [
    'as the network wrote it',
    { type: 'image', text: '', network: { message: { imageMessage: { url: 'u' } } } },
    { imageMessage: { url: 'u' } },
  ],
  ['as its text', { type: 'text', text: 'hello', network: null }, { conversation: 'hello' }],
  ['not if it is a file without the network data', { type: 'image', text: 'caption', network: null }, null],
  ['not if it is a location without the network data', { type: 'location', text: '', network: {} }, null],
  ['not if its text is empty', { type: 'text', text: '', network: null }, null],
])('a message is sent again %s', async (_, { type, text, network }, content) => {
  const upstreamId = await record(type, text, network)
  expect(await ask(findContentToResend, upstreamId)).toEqual(content)
  const other = await devices.world.createOrganization()
  expect(await findContentToResend(devices.world.app.ctx, other.id, instance.id, upstreamId)).toBeNull()
})

it('a message with unknown content can be quoted', async () => {
  const upstreamId = await record('image', 'caption', null)
  expect(await ask(findKnownMessage, upstreamId)).toMatchObject({
    key: { id: upstreamId },
    message: { conversation: 'caption' },
  })
})
