import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { packageRoot } from '../../lib/files/package-root.js'
import { Problem } from '../../model/problem.js'

/** The folder of the built page. */
const FOLDER = join(packageRoot(), 'dist', 'console')
/** The page's path. Every path below it belongs to the page. */
const INDEX = 'index.html'
/** Paths that never belong to the page: files with a hash in their names, and the endpoints. */
const NO_PLACE = /^(assets|api)(\/|$)/

/**
 * Serves the built page and its files. Any other path gets the page, which has its own routes; without a build, every
 * path gets an error that says so.
 */
export function pageRoutes(ctx: Pick<Context, 'publicUrl'>): FastifyPluginAsync {
  return async (server) => {
    server.addHook('onSend', async (_request, reply) => {
      reply.headers(securityHeaders(ctx.publicUrl()))
    })
    if (existsSync(join(FOLDER, INDEX))) await servePage(server, {})
    else server.get('/*', () => Promise.reject(notBuilt()))
    server.get('', (request, reply) => reply.redirect(`${request.url.replace(/\?.*/s, '')}/`))
  }
}

const servePage: FastifyPluginAsync = async (server) => {
  await server.register(fastifyStatic, {
    root: FOLDER,
    wildcard: false,
    // The handler for unknown paths serves the page for the folder as well.
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (response, path) => {
      response.setHeader(
        'cache-control',
        path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
    },
  })
  server.get('/*', (request: FastifyRequest, reply: FastifyReply) => {
    if (NO_PLACE.test((request.params as { '*': string })['*'])) {
      throw new Problem('not_found', `There is nothing at ${request.url.split('?')[0]}`)
    }
    return reply.sendFile(INDEX)
  })
}

/** Only content of this service is loaded. Inline styles are allowed, since the component library writes them. */
function securityHeaders(publicUrl: string): Record<string, string> {
  // URLs of media start with the public URL, which may differ from the URL of the page.
  const files = `'self' ${new URL(publicUrl).origin}`
  return {
    'content-security-policy': [
      "default-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      `img-src ${files} data: blob:`,
      `media-src ${files} blob:`,
      "connect-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
  }
}

function notBuilt(): Problem {
  return new Problem('not_found', 'The page is not built: run npm run build or bin/up')
}
