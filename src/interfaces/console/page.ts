import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { packageRoot } from '../../lib/files/package-root.js'
import { Problem } from '../../model/problem.js'

/** Where the build leaves the page. */
const FOLDER = join(packageRoot(), 'dist', 'console')
/** The page; below it every address is a place in it. */
const INDEX = 'index.html'
/** What is never a place in the page: files whose names hold a hash of their content, and the endpoints. */
const NO_PLACE = /^(assets|api)(\/|$)/

/**
 * The built page and its files. What is not there is answered with the page itself, which knows its own addresses; without a build
 * every address says so.
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
    // The page answers by itself where its folder is asked for.
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

/** Only what the service itself serves is run or shown; styles may stand in the page, as the component library writes them. */
function securityHeaders(publicUrl: string): Record<string, string> {
  // Files of messages have addresses at the public URL, which need not be the one by which the page was opened.
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
  return new Problem('not_found', 'The page has not been built: run npm run build, or bin/up, which does it')
}
