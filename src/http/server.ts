import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  LogController,
  type RawServerDefault,
} from 'fastify'
import type { Logger } from 'pino'
import { MEBIBYTE } from '../lib/text/units.js'
import { Problem } from '../model/problem.js'
import { answerClientError, HEADER_LIMIT } from './client-error.js'
import { type ProblemSender, sendProblem } from './problems.js'
import { createRequestIds, REQUEST_ID } from './request-id.js'
import { compileValidator } from './validation.js'

/** How large a request's body may be, in bytes, where a route says nothing else (contract 4). */
export const BODY_LIMIT = MEBIBYTE

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/** The server as the endpoints of an interface see it: their schemas give the types. */
export type TypedServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What is done with a request before its route, and with it its interface, is known. */
export interface ServerOptions {
  /** The URL by which its route is looked for, made of the one that it came with. */
  rewriteUrl?: (request: IncomingMessage) => string
  /** Answers where the URL cannot be read. */
  sendUrlProblem?: ProblemSender
}

/**
 * The HTTP server that the interfaces are mounted on: reads JSON, checks it, answers problems, and 404 for what is not there.
 */
export function createServer(
  log: Logger,
  { rewriteUrl, sendUrlProblem = sendProblem }: ServerOptions = {},
): FastifyInstance {
  const nameRequest = createRequestIds()
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    http: { maxHeaderSize: HEADER_LIMIT },
    requestTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: nameRequest,
    // One logger for all: a child for each request costs more than the few lines that are logged are worth.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: 512 },
    rewriteUrl: rewriteUrl && ((request) => rewriteUrl(request as IncomingMessage)),
    frameworkErrors: (error, request, reply) => sendUrlProblem(error, request, tellId(request, reply)),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, nameRequest()),
  })
  server.addHook('onRequest', (request, reply, done) => {
    tellId(request, reply)
    done()
  })
  refuseWhileClosing(server)
  server.setValidatorCompiler(compileValidator)
  // Answers are plain objects whose shape the presenters decide; their schemas only document them.
  server.setSerializerCompiler(() => JSON.stringify)
  server.setErrorHandler(sendProblem)
  // Before the body is read: whatever it holds, the path is what is wrong.
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(notFound(request))
    else done()
  })
  // For routes that find out later, such as that of the files of /docs.
  server.setNotFoundHandler((request, reply) => sendProblem(notFound(request), request, reply))
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    // Many clients send the Content-Type also where there is nothing to send.
    if (body === '') return done(null, undefined)
    try {
      const value: unknown = JSON.parse(body as string)
      // Further on null stands for no body.
      if (value === null) done(new Problem('invalid_json', 'The request body must be a JSON object, not null'))
      else done(null, value)
    } catch (error) {
      done(new Problem('invalid_json', `The request body is not JSON: ${(error as Error).message}`))
    }
  })
  return server
}

/** Every answer names its request, as the log does where it tells of one. */
function tellId(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.header(REQUEST_ID, request.id)
}

/** What is under way finishes, and nothing new begins (contract 1, SIGTERM): requests on open connections get a 503. */
function refuseWhileClosing(server: FastifyInstance): void {
  let closing = false
  const unused = watchUnused(server)
  server.addHook('preClose', async () => {
    closing = true
    for (const socket of unused) socket.destroy()
    // A connection whose request is still under way is not idle yet: its answer shall be its last.
    server.server.keepAliveTimeout = 1
  })
  server.addHook('onRequest', (_request, reply, done) => {
    if (!closing) return done()
    reply.header('connection', 'close')
    done(new Problem('service_unavailable', 'The service is being stopped: try again in a moment', { retry_after: 1 }))
  })
}

/** The connections that have brought nothing yet: Node takes them for busy, and would wait a minute for what they may bring. */
function watchUnused({ server }: FastifyInstance): ReadonlySet<Socket> {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return unused
}

/**
 * Answers 405 with `Allow` to a known path with another method, but for paths below `except`. Call it before the routes are
 * registered; they are all there when the plugin that it returns is.
 */
export function refuseOtherMethods(server: FastifyInstance, except: readonly string[] = []): FastifyPluginAsync {
  const methodsByUrl = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set()
    for (const one of [method].flat()) methods.add(one)
    methodsByUrl.set(url, methods)
  })
  return async (instance) => {
    for (const [url, methods] of [...methodsByUrl]) {
      if (url.includes('*') || except.some((path) => url === path || url.startsWith(`${path}/`))) continue
      const allow = [...methods].join(', ')
      instance.route({
        url: url.slice(instance.prefix.length),
        method: METHODS.filter((method) => !methods.has(method)),
        schema: { hide: true } as FastifySchema,
        // Before the body is read: whatever it holds, the method is what is wrong.
        onRequest: async (request, reply) => {
          reply.header('allow', allow)
          throw new Problem('method_not_allowed', `${url} takes ${allow}, not ${request.method}`)
        },
        handler: () => undefined,
      })
    }
  }
}

function notFound({ method, url }: FastifyRequest): Problem {
  return new Problem('not_found', `There is no ${method} ${url.split('?')[0]?.slice(0, 200)}`)
}
