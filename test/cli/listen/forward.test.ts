import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardEvent } from '../../../src/cli/listen/forward.js'
import { createEndpointClient, type EndpointClient } from '../../../src/endpoints/client.js'
import { newWebhookSecret } from '../../../src/lib/crypto/standard-webhooks.js'
import { createAddressGuard } from '../../../src/lib/http/address-guard.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'

let receiver: Receiver
let client: EndpointClient

beforeAll(async () => {
  receiver = await startReceiver()
  client = createEndpointClient({ guard: createAddressGuard(['127.0.0.1']) })
})

afterAll(async () => {
  await client.close()
  await receiver.close()
})

it('gives up an event after repeated failures, and prints the reason each time', async () => {
  receiver.respond(() => (response) => response.writeHead(302, { location: '/elsewhere' }).end())
  const event = { id: 'event-1', type: 'contact.created', timestamp: '2026-01-01T00:00:00.000Z', data: {} }
  const lines: string[] = []
  await forwardEvent(event, {
    client,
    url: receiver.url,
    secret: newWebhookSecret(),
    clock: () => new Date(),
    print: async (line) => void lines.push(line),
    signal: new AbortController().signal,
    waitsMs: [1, 2],
  })
  expect(receiver.received).toHaveLength(3)
  const why =
    /contact\.created {2}event-1 {2}the endpoint answered 302: redirects are not followed {2}\d+ ms {2}(.+)\n$/
  expect(lines.map((line) => why.exec(line)?.[1])).toEqual(['again in 0.001 s', 'again in 0.002 s', 'given up'])
})
