import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** The description of Interface A at /openapi.json: OpenAPI 3.1.0, version 1.0.0 (spec 9). */
export const apiDescription: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Parley API',
      version: '1.0.0',
      description: 'Contacts, conversations and messages of one organization. Every answer is JSON.',
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the organization: parley_…' },
      },
    },
    security: [{ apiKey: [] }],
  },
}
