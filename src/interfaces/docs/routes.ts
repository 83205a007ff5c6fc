import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { type Page, readPages } from './pages.js'

/** The descriptions that /docs shows. */
const DESCRIPTIONS = [
  { name: 'API', url: '/openapi.json' },
  { name: 'Gateway', url: '/gateway/openapi.json' },
  { name: 'Admin API', url: '/docs/admin.json' },
]

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" height="40"><title>Parley</title><path fill="#0b7285" d="M16 3C8.3 3 2 8.4 2 15c0 3.5 1.8 6.6 4.6 8.8L5 29.5l6.6-3.2c1.4.4 2.9.7 4.4.7 7.7 0 14-5.4 14-12S23.7 3 16 3z"/><path stroke="#fff" stroke-linecap="round" stroke-width="2.6" d="M10 13h12M10 18h7"/></svg>'

const MARKDOWN = 'text/markdown; charset=utf-8'
const hidden = { schema: { hide: true } as FastifySchema }

/**
 * `/docs`: a readable page of all descriptions, the pages of the docs as Markdown, and their index for language models.
 * Every page has a route of its own, so no other file can be named.
 */
export function docsRoutes(server: FastifyInstance): void {
  const pages = readPages()
  const index = writeIndex(pages)
  server.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { urls: DESCRIPTIONS },
    logo: { type: 'image/svg+xml', content: LOGO, href: '/docs/' },
    theme: {
      title: 'Parley: API reference',
      favicon: [{ filename: 'parley.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: LOGO }],
    },
  })
  // Everything below /admin needs the token. The text is the same for every installation, so it may be read without one
  // here.
  server.get('/docs/admin.json', hidden, () => server.adminSwagger())
  for (const url of ['/llms.txt', '/docs/llms.txt']) {
    server.get(url, hidden, (_request, reply) => reply.type('text/plain; charset=utf-8').send(index))
  }
  for (const { file, text } of pages) {
    server.get(`/docs/${file}`, hidden, (_request, reply) => reply.type(MARKDOWN).send(text))
  }
}

/** The index in the form of llmstxt.org. */
function writeIndex(pages: readonly Page[]): string {
  const lines = pages.map(({ file, title, summary }) => `- [${title}](/docs/${file})${summary && `: ${summary}`}`)
  const descriptions = DESCRIPTIONS.map(({ name, url }) => `- [${name}](${url}): OpenAPI 3.1`)
  return `# Parley

> A self-hosted service for WhatsApp messaging: contacts, conversations, broadcasts, webhooks and a team inbox.

## Docs

${lines.join('\n')}

## API descriptions

${descriptions.join('\n')}
`
}
