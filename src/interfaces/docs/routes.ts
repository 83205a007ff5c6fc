import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { type Page, readPages } from './pages.js'

/** The descriptions that /docs shows. */
const DESCRIPTIONS = [
  { name: 'API', url: '/openapi.json' },
  { name: 'Gateway', url: '/gateway/openapi.json' },
  { name: 'Admin API', url: '/docs/admin.json' },
]

const MARKDOWN = 'text/markdown; charset=utf-8'
const hidden = { schema: { hide: true } as FastifySchema }

/**
 * `/docs`: a readable page of all descriptions, the pages of the docs as Markdown, and their index for language models.
 * Every page has a route of its own, so no other file can be named.
 */
export function docsRoutes(server: FastifyInstance): void {
  const pages = readPages()
  const index = writeIndex(pages)
  server.register(swaggerUi, { routePrefix: '/docs', uiConfig: { urls: DESCRIPTIONS } })
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
