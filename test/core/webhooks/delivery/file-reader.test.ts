import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { MEBIBYTE } from '../../../../src/lib/text/units.js'
import { blobKey } from '../../../../src/model/messages/media.js'
import { insertMedia } from '../../../../src/storage/messages/media.js'
import { createContact } from '../../../support/contacts.js'
import { jpeg } from '../../../support/media.js'
import { deliveryTo } from '../../../support/rows/deliveries.js'
import { SECOND } from '../../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'
import { closeInstanceEndpoints, startInstanceEndpoint } from './gateway-support.js'

const EVENTS = ['MESSAGES_UPSERT', 'MESSAGES_UPDATE']

const world = useWorld()
let organization: TestOrganization
let contactId: string

beforeEach(async () => {
  organization = await world.createOrganization()
  contactId = await createContact(world, organization, '+16505551234')
})

afterEach(() => closeInstanceEndpoints())

/** Stores a file; `size` is the recorded size, if it differs from the real one. */
async function store(bytes: Buffer, size = bytes.length): Promise<string> {
  const { blobs, spool } = world.app.ctx
  const id = newId()
  await insertMedia(world.database, organization.id, {
    id,
    mimeType: 'image/jpeg',
    size,
    filename: null,
    messageId: null,
  })
  await spool.use(async (path) => {
    await writeFile(path, bytes)
    await blobs.put(blobKey(organization.id, id), path, 'image/jpeg')
  })
  return id
}

/** Raises an event for a message with this file. */
async function raise(mediaId: string, type = 'message.received'): Promise<void> {
  const expiry = new Date(Date.now() + 1_000_000_000)
  const message = {
    organization_id: organization.id,
    id: newId(),
    upstream_id: 'wamid.1',
    sender_type: 'user-chat',
    message_type: 'image',
    text: 'look',
    media_type: 'image',
    media_id: mediaId,
    media_expires_at: expiry,
    status: 'delivered',
    outcome: null,
    created_at: new Date(),
  }
  await world.database.pool.query(
    `INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT organization_id, gen_random_uuid(), $2, id,
       jsonb_build_object('message', $3::jsonb, 'contact', to_jsonb(c))
     FROM contacts c WHERE id = $1`,
    [contactId, type, JSON.stringify(message)],
  )
  await world.drain()
}

describe('a file', () => {
  it('is posted with its message if the webhook asks for files, identical in every attempt', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    endpoint.respond(() => 503)
    await raise(await store(jpeg()))
    endpoint.respond(() => 204)
    world.advance(7 * SECOND)
    await world.drain()
    expect(endpoint.received[0]?.body.data.message).toMatchObject({
      imageMessage: { caption: 'look' },
      base64: jpeg().toString('base64'),
    })
    expect(endpoint.received[1]?.text).toBe(endpoint.received[0]?.text)
  })

  it('is not posted if the webhook does not ask for files, nor with later statuses of the message', async () => {
    const plain = await startInstanceEndpoint(world, organization, { events: EVENTS })
    const wanted = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    await raise(await store(jpeg()))
    await raise(await store(jpeg()), 'message.read')
    expect(wanted.names()).toEqual(['messages.upsert', 'messages.update'])
    expect(wanted.received.map(({ text }) => text.includes('base64'))).toEqual([true, false])
    expect(plain.received.map(({ text }) => text.includes('base64'))).toEqual([false, false])
  })

  it('of more than 16 MB, or missing, is not posted, while its message is', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    await raise(await store(jpeg(), 16 * MEBIBYTE + 1))
    const erased = await store(jpeg())
    await world.app.ctx.blobs.remove([blobKey(organization.id, erased)])
    await raise(erased)
    await raise(newId())
    expect(endpoint.received.map(({ body }) => body.data.message.base64)).toEqual([undefined, undefined, undefined])
  })

  it("of another organization is never posted, even if an event's row names it", async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    const own = organization
    organization = await world.createOrganization()
    const foreign = await store(jpeg())
    organization = own
    await raise(foreign)
    expect(endpoint.received[0]?.body.data.message).not.toHaveProperty('base64')
  })

  it('arrives with each message that refers to it', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    const file = await store(Buffer.alloc(MEBIBYTE, 7))
    const people = ['+16505551001', '+16505551002', '+16505551003', '+16505551004', '+16505551005']
    for (const number of people) {
      contactId = await createContact(world, organization, number)
      await raise(file)
    }
    expect(endpoint.received.map(({ body }) => body.data.message.base64.length)).toEqual(
      people.map(() => Math.ceil(MEBIBYTE / 3) * 4),
    )
  })

  it('is awaited if the store is unavailable for now', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { base64: true, events: EVENTS })
    const { blobs } = world.app.ctx
    const { open } = blobs
    blobs.open = () => Promise.reject(new Error('the store is away'))
    await raise(await store(jpeg()))
    blobs.open = open
    expect(endpoint.received).toEqual([])
    expect(await deliveryTo(world, endpoint.id)).toMatchObject({
      status: 'pending',
      attempts: [{ response_status: null }],
    })
    world.advance(7 * SECOND)
    await world.drain()
    expect(endpoint.received[0]?.body.data.message.base64).toBe(jpeg().toString('base64'))
  })
})
