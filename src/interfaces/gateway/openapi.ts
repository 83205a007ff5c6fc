import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { describeInterface } from '../../http/description/describe.js'
import { IDEMPOTENCY_HEADER } from '../../http/idempotency.js'
import { GATEWAY } from './path.js'
import { gatewayWebhooks } from './webhook-events.js'

/** What takes an Idempotency-Key: everything that creates something. */
const ONCE = /^\/gateway\/(message\/|webhook\/set|instance\/create)/

const DESCRIPTION = `Instances (connected numbers and devices) of one organization, the messages that they send and receive, and their
webhooks. Clients of Evolution API can use it as it is.

Every answer is JSON. Paths may end with a slash, unknown fields are ignored, and names in paths may be URL-encoded. Endpoints
of other gateways that Parley does not have (groups, labels, calls, bots, proxies, queues) answer 501 and say what to use instead.

Guides: [the gateway](/docs/gateway.md), [its webhooks](/docs/gateway-webhooks.md), [linked devices](/docs/linked-devices.md),
and [all others](/docs/llms.txt).`

/** The description of Interface B at /gateway/openapi.json: OpenAPI 3.1.0, version 1.0.0. */
export const gatewayDescription: FastifyDynamicSwaggerOptions & { decorator: 'gatewaySwagger' } = {
  decorator: 'gatewaySwagger',
  ...describeInterface({
    title: 'Parley gateway',
    description: DESCRIPTION,
    tags: {
      instance: { name: 'Instances', description: 'Create, connect and delete instances' },
      settings: { name: 'Settings', description: 'Settings of an instance' },
      message: { name: 'Messages', description: 'Send messages' },
      chat: { name: 'Chats', description: 'Read messages, chats and contacts, and change them' },
      webhook: { name: 'Webhooks', description: 'The endpoint that the events of an instance are posted to' },
      event: { name: 'Events', description: 'What is posted to the webhook of an instance' },
    },
    securitySchemes: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'apikey',
        description: 'An API key of the organization with the scope gateway (parley_…), or the token of the instance',
      },
      bearer: { type: 'http', scheme: 'bearer', description: 'The same key or token' },
    },
    security: [{ apiKey: [] }, { bearer: [] }],
    limited: true,
    webhooks: gatewayWebhooks,
    examples: 'gateway',
    transform: ({ schema, url, route }) => ({
      url,
      schema: {
        ...schema,
        operationId: operationIdOf(url),
        ...(ONCE.test(url) && route.method === 'POST' ? { headers: IDEMPOTENCY_HEADER } : {}),
      },
    }),
  }),
}

/** Paths are named like methods here: message.sendText of /gateway/message/sendText/:instance. */
function operationIdOf(url: string): string {
  return url.split('/').slice(2, 4).join('.')
}

/** The description for the gateway's own address, where its paths begin at the root. */
export function describeAtRoot(description: Description): object {
  const { paths = {} } = description
  const atRoot = Object.entries(paths).map(([path, item]) => [path.slice(GATEWAY.length), item])
  return { ...description, paths: Object.fromEntries(atRoot) }
}

interface Description {
  paths?: object
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The description of this interface's routes. */
    gatewaySwagger: FastifyInstance['swagger']
  }
}
