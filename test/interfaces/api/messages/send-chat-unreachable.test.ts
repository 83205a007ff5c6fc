import { describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { freePort } from '../../../support/free-port.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld(async () => ({ PARLEY_UPSTREAM_URL: `http://127.0.0.1:${await freePort()}/v23.0` }))
const organization = useOrganization(world)

describe('POST /send-chat returns 500 Upstream unavailable', () => {
  it('if the upstream cannot be reached; the request can be repeated, also with its Idempotency-Key', async () => {
    await createContact(world, organization, '+16505550001')
    const body = { phone_number: '16505550001', message_type: 'text', text: 'hello' }
    const options = { key: organization.key, body, headers: { 'idempotency-key': 'again' } }
    const answer = await world.request('POST', '/send-chat', options)
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({ success: false, error: 'Upstream unavailable', retryable: true })
    const shown = await conversation(world, organization, '16505550001')
    expect(shown.body.messages).toMatchObject([
      { id: answer.body.id, message_status: 'failed', outcome: null, error: { code: 'upstream_unavailable' } },
    ])
    const events = (await eventsOf(world, organization)).filter((event) => event.type.startsWith('message.'))
    expect(events.map((event) => event.type)).toEqual(['message.failed'])

    const again = await world.request('POST', '/send-chat', options)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect(again.body.id).not.toBe(answer.body.id)
  })
})
