import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifySchema,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { newId } from '../lib/id.js'
import { Problem } from '../model/problem.js'
import { sendProblem } from './problems.js'
import { compileValidator } from './validation.js'

/** How large a request's body may be, in bytes, where a route says nothing else (contract 4). */
export const BODY_LIMIT = 1_048_576

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * The HTTP server that the interfaces are mounted on: reads JSON, checks it, answers problems, and 404 for what is not there.
 */
export function createServer(log: Logger): FastifyInstance {
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    genReqId: newId,
    routerOptions: { maxParamLength: 512 },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
  })
  server.setValidatorCompiler(compileValidator)
  // Answers are plain objects whose shape the presenters decide; their schemas only document them.
  server.setSerializerCompiler(() => JSON.stringify)
  server.setErrorHandler(sendProblem)
  server.setNotFoundHandler((request, reply) => {
    const problem = new Problem(
      'not_found',
      `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200)}`,
    )
    sendProblem(problem, request, reply)
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, JSON.parse(body as string))
    } catch (error) {
      done(new Problem('invalid_json', `The request body is not JSON: ${(error as Error).message}`))
    }
  })
  return server
}

/**
 * Answers 405 with `Allow` to a known path with another method. Call it before the routes are registered; they are all
 * there when the plugin that it returns is.
 */
export function refuseOtherMethods(server: FastifyInstance): FastifyPluginAsync {
  const methodsByUrl = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set()
    for (const one of [method].flat()) methods.add(one)
    methodsByUrl.set(url, methods)
  })
  return async (instance) => {
    for (const [url, methods] of [...methodsByUrl]) {
      if (url.includes('*') || url.startsWith('/docs')) continue
      const allow = [...methods].join(', ')
      instance.route({
        url,
        method: METHODS.filter((method) => !methods.has(method)),
        schema: { hide: true } as FastifySchema,
        handler: (request, reply) => {
          reply.header('allow', allow)
          throw new Problem('method_not_allowed', `${url} takes ${allow}, not ${request.method}`)
        },
      })
    }
  }
}
