import type { FastifyInstance } from 'fastify'

/** `GET /`: redirects browsers to the console, and lists the main paths for programs. */
export function rootRoutes(server: FastifyInstance): void {
  server.get('/', { schema: { hide: true } as object }, async ({ headers }, reply) => {
    reply.header('vary', 'accept')
    if (headers.accept?.includes('text/html')) return reply.redirect('/console/')
    return {
      success: true,
      name: 'Parley',
      docs: '/docs',
      descriptions: ['/openapi.json', '/gateway/openapi.json'],
      console: '/console/',
    }
  })
}
