import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { compileGiven } from '../model/given.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Removes from query and body of a request what counts as not given. */
    dropNotGiven?: (query: unknown, body: unknown) => void
  }
}

/**
 * On routes registered from now on, empty parameters and fields (see compileGiven) count as not given: they are removed
 * before the request is validated.
 */
export function dropNotGiven(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    const { querystring = {}, body = {} } = (route.schema ?? {}) as { querystring?: object; body?: object }
    const inQuery = compileGiven(querystring)
    const inBody = compileGiven(body)
    const drop = (givenQuery: unknown, givenBody: unknown) => {
      inQuery(givenQuery)
      // Of some routes the body is a stream, which they read themselves.
      if (!(givenBody instanceof Readable)) inBody(givenBody)
    }
    route.config = { ...route.config, dropNotGiven: drop }
  })
  server.addHook('preValidation', ({ routeOptions, query, body }, _reply, done) => {
    routeOptions.config.dropNotGiven?.(query, body)
    done()
  })
}
