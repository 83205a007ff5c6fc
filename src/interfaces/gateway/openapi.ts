import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { IDEMPOTENCY_HEADER } from '../../http/idempotency.js'
import { GATEWAY } from './path.js'

/** The version of this interface. */
export const GATEWAY_VERSION = '1.0.0'

/** What takes an Idempotency-Key: everything that makes something new. */
const ONCE = /^\/gateway\/(message\/|webhook\/set|instance\/create)/

/** The description of Interface B at /gateway/openapi.json: OpenAPI 3.1.0, version 1.0.0 (contract 1). */
export const gatewayDescription: FastifyDynamicSwaggerOptions & { decorator: 'gatewaySwagger' } = {
  decorator: 'gatewaySwagger',
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Parley gateway',
      version: GATEWAY_VERSION,
      description:
        'Instances (connected numbers and devices) of one organization, what they send and receive, and their webhooks. ' +
        'Every answer is JSON. Paths may end in a slash, surplus fields are ignored, names in paths may be URL-encoded. ' +
        'What other gateways of this kind do beside it (groups, labels, calls, bots, proxies, queues) answers 501 and says what to use instead.',
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'apikey',
          description: 'An API key of the organization with the scope gateway (parley_…), or the token of the instance',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same' },
      },
    },
    security: [{ apiKey: [] }, { bearer: [] }],
  },
  transform: ({ schema, url, route }) => ({
    url,
    schema: { ...schema, ...(ONCE.test(url) && route.method === 'POST' ? { headers: IDEMPOTENCY_HEADER } : {}) },
  }),
}

/** The description as it holds at an address of the gateway's own, where its paths begin at the root. */
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
