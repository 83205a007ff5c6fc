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
import { type ProblemSender, sendProblem } from './answers/problems.js'
import { answerClientError, HEADER_LIMIT } from './client-error.js'
import { takeJsonBodies } from './json-body.js'
import { createRequestIds, REQUEST_ID } from './request-id.js'
import { endStalledUploads } from './stalled-uploads.js'
import { compileValidator } from './validation.js'

/** The default maximum size of a request body, in bytes. */
const BODY_LIMIT = MEBIBYTE

/** How long request line and headers may take. */
const HEADERS_TIMEOUT_MS = 60_000
/** Files and connections to the database and to webhooks need descriptors too. */
const MAX_CONNECTIONS = 20_000

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/** The server as endpoints see it; their schemas give the types. */
export type TypedServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Options for requests before their route, and so their interface, is known. */
export interface ServerOptions {
  /** The URL for routing, computed from the request's. */
  rewriteUrl?: (request: IncomingMessage) => string
  /** Answers requests whose URL cannot be read. */
  sendUrlProblem?: ProblemSender
}

/** Creates the HTTP server of the interfaces. It parses and validates JSON and answers errors and unknown paths. */
export function createServer(
  log: Logger,
  { rewriteUrl, sendUrlProblem = sendProblem }: ServerOptions = {},
): FastifyInstance {
  const nameRequest = createRequestIds()
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    // Bodies have no time limit as long as they progress, see endStalledUploads.
    http: { maxHeaderSize: HEADER_LIMIT, headersTimeout: HEADERS_TIMEOUT_MS },
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: nameRequest,
    // One logger for all requests: a child per request costs more than the few logged lines are worth.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: 512 },
    rewriteUrl: rewriteUrl && ((request) => rewriteUrl(request as IncomingMessage)),
    frameworkErrors: (error, request, reply) => sendUrlProblem(error, request, addRequestId(request, reply)),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, nameRequest()),
  })
  server.addHook('onRequest', (request, reply, done) => {
    addRequestId(request, reply)
    done()
  })
  server.server.maxConnections = MAX_CONNECTIONS
  endStalledUploads(server.server, nameRequest)
  refuseWhileClosing(server)
  server.setValidatorCompiler(compileValidator)
  // Presenters decide the form of answers; the schemas only document them.
  server.setSerializerCompiler(() => JSON.stringify)
  server.setErrorHandler(sendProblem)
  // Before the body is read: an invalid path is refused regardless of the body.
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(notFound(request))
    else done()
  })
  // For routes that find out later, such as the files of /docs.
  server.setNotFoundHandler((request, reply) => sendProblem(notFound(request), request, reply))
  server.removeAllContentTypeParsers()
  takeJsonBodies(server)
  return server
}

/** Every answer contains the request's id, as the log does. */
function addRequestId(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.header(REQUEST_ID, request.id)
}

/** Makes every further answer the last one on its connection. */
export function endConnections({ server }: FastifyInstance): void {
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
}

/** On SIGTERM running requests finish, and new ones on open connections get a 503. */
function refuseWhileClosing(server: FastifyInstance): void {
  let closing = false
  const unused = watchUnused(server)
  server.addHook('preClose', async () => {
    closing = true
    for (const socket of unused) socket.destroy()
    // A connection with a running request is not idle yet; its answer must be its last.
    server.server.keepAliveTimeout = 1
  })
  server.addHook('onRequest', (_request, reply, done) => {
    if (!closing) return done()
    reply.header('connection', 'close')
    done(new Problem('service_unavailable', 'The service is being stopped: try again in a moment', { retry_after: 1 }))
  })
}

/** Connections that have sent nothing yet: Node counts them as busy and would wait a minute for a request. */
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
 * Answers 405 with `Allow` for a known path with another method, except below `except`. Call it before the routes are
 * registered; the returned plugin sees all of them.
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
        // Before the body is read: a wrong method is refused regardless of the body.
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
