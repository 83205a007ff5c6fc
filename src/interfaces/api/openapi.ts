import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { IDEMPOTENCY_HEADER } from '../../http/idempotency.js'

/** The description of Interface A at /openapi.json: OpenAPI 3.1.0, version 1.0.0 (spec 9). */
export const apiDescription: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Parley API',
      version: '1.0.0',
      description:
        'Contacts, conversations and messages of one organization. Every answer is JSON, but for exports as CSV.',
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the organization: parley_…' },
      },
    },
    security: [{ apiKey: [] }],
  },
  transform: ({ schema, url, route }) => ({
    url,
    schema: {
      ...schema,
      hide: schema?.hide || url.startsWith('/gateway'),
      ...(route.method === 'POST' ? { headers: IDEMPOTENCY_HEADER } : {}),
      ...describeFile(route.config?.contentType),
    },
  }),
}

/** The body of a request that is a file is read by the endpoint itself, and has no schema there. */
function describeFile(contentType: string | undefined): object {
  return contentType === undefined ? {} : { consumes: [contentType], body: { type: 'string', format: 'binary' } }
}
