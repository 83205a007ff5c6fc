import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** Only told of, and read elsewhere: http/idempotency. */
const IDEMPOTENCY_KEY = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Makes the request safe to repeat: within 24 hours the same key and body give the first answer again, with the header Idempotent-Replayed',
    },
  },
}

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
      ...(route.method === 'POST' ? { headers: IDEMPOTENCY_KEY } : {}),
      ...describeFile(route.config?.contentType),
    },
  }),
}

/** The body of a request that is a file is read by the endpoint itself, and has no schema there. */
function describeFile(contentType: string | undefined): object {
  return contentType === undefined ? {} : { consumes: [contentType], body: { type: 'string', format: 'binary' } }
}
