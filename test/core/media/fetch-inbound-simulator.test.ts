import { describe, expect, it } from 'vitest'
import { conversation } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { storedBytes } from '../../support/received-files.js'
import { eventsOf } from '../../support/rows/events.js'
import { mediaRows } from '../../support/rows/media.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let people = 0

/** The conversation's view of a message that a new person sends through the simulator. */
async function send(type: string, payload: object) {
  organization = await world.createOrganization()
  const from = `1650555${String(++people).padStart(4, '0')}`
  const body = { phone_number_id: organization.phoneNumberId, from, type, [type]: payload }
  expect((await world.sim('POST', '/inbound', body)).status).toBe(200)
  await world.settle()
  return async () => (await conversation(world, organization, from)).body.messages[0]
}

describe('a file from the simulator', () => {
  it.each([
    ['image', 'image', 'image/jpeg'],
    ['video', 'video', 'video/mp4'],
    ['audio', 'audio', 'audio/ogg'],
    ['document', 'document', 'application/pdf'],
    ['sticker', 'image', 'image/webp'],
  ])('of the kind %s is fetched', async (type, media_type, mime_type) => {
    const shown = await (await send(type, {}))()
    expect(shown).toMatchObject({ media_type, media_url: expect.stringContaining('/media/'), error: null })
    const row = (await mediaRows(world)).find(({ id }) => id === shown.id)
    expect(row).toMatchObject({ mime_type, organization_id: organization.id })
    expect(await storedBytes(world, organization, shown.id)).toHaveLength(row.size)
  })

  it('that is not there (000404) is given up at once', async () => {
    const shown = await send('image', { id: '77000404', caption: 'Look' })
    expect(await shown()).toMatchObject({
      message: 'Look',
      media_url: null,
      error: { code: 'media_unavailable', text: expect.stringContaining('77000404') },
    })
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(1)
  })

  it.each(['77000500', '77000408'])('that fails once (%s) is fetched by the next try', async (id) => {
    const shown = await send('image', { id })
    expect(await shown()).toMatchObject({ media_url: null, error: null })
    await workOffLater(world)
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/'), error: null })
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(1)
  })
})
