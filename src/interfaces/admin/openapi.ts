import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { describeInterface } from '../../http/description/describe.js'

/** The description of the admin API at /admin/openapi.json, and for everyone at /docs/admin.json: OpenAPI 3.1.0. */
export const adminDescription: FastifyDynamicSwaggerOptions & { decorator: 'adminSwagger' } = {
  decorator: 'adminSwagger',
  ...describeInterface({
    title: 'Parley admin API',
    description: `Organizations, API keys and members of the team, for the operator of the service. Unknown parameters and fields are
refused.`,
    tags: {
      organizations: { name: 'Organizations', description: 'Organizations and what they are connected to' },
      keys: { name: 'API keys', description: 'Keys by which programs use the API and the gateway' },
      members: { name: 'Members', description: 'The people who use the console' },
    },
    securitySchemes: {
      adminToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The admin token: PARLEY_ADMIN_TOKEN, or the one in the data folder',
      },
    },
    security: [{ adminToken: [] }],
    limited: false,
    examples: 'admin',
    transform: ({ schema, url }) => ({ url, schema: { ...schema, hide: schema?.hide || !url.startsWith('/admin/') } }),
  }),
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The description of the admin API. */
    adminSwagger: FastifyInstance['swagger']
  }
}
