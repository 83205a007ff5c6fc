import fastifyCookie from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync, onRequestHookHandler } from 'fastify'
import type { LiveContext, RequestContext } from '../../context.js'
import { createOriginGuard } from '../../http/access/session.js'
import { bodyOf, createProblemSender, statusOf } from '../../http/answers/problems.js'
import { refuseUnknown } from '../../http/unknown-fields.js'
import { analyticsExportRoutes } from './analytics-export.js'
import { audienceRoutes } from './broadcasts/audience.js'
import { listRoutes } from './broadcasts/lists.js'
import { placeholderRoutes } from './broadcasts/placeholders.js'
import { assignmentRoutes } from './inbox/assignment.js'
import { fileRoutes } from './inbox/files.js'
import { inboxRoutes } from './inbox/inbox.js'
import { mergeRoutes } from './inbox/merges.js'
import { noteRoutes } from './inbox/notes.js'
import { playCustomerRoutes } from './inbox/play-customer.js'
import { threadRoutes } from './inbox/thread.js'
import { threadSearchRoutes } from './inbox/thread-search.js'
import { liveRoutes } from './live/live.js'
import { numberRoutes } from './number.js'
import { pageRoutes } from './page.js'
import { sessionRoutes, signInRoutes } from './session.js'
import { instanceRoutes } from './settings/instances.js'
import { keyRoutes } from './settings/keys.js'
import { noticeRoutes } from './settings/notices.js'
import { phoneHistoryRoutes } from './settings/phone-histories.js'
import { settingsRoutes } from './settings/settings.js'
import { teamRoutes } from './settings/team.js'

/** Dependencies of the console's routes. */
export interface ConsoleOptions {
  ctx: RequestContext
  live: LiveContext
  /** Admits requests of signed-in members and sets `request.caller`. */
  guard: onRequestHookHandler
  /** All routes of the API, which sessions may call under /console/api as keys do under /. */
  interfaceA: FastifyPluginAsync
}

/** Answers with a problem as the API does, and with its sentence: the page makes the text in its language from it. */
const sendConsoleProblem = createProblemSender((problem) => ({
  status: statusOf(problem),
  body: { ...bodyOf(problem), sentence: problem.sentence },
}))

const UNKEPT = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** `/console`: the team's page, and under /console/api the endpoints that it uses. */
export function consoleRoutes({ ctx, live, guard, interfaceA }: ConsoleOptions): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true } as object
    })
    server.register(
      async (api) => {
        api.setErrorHandler(sendConsoleProblem)
        await api.register(fastifyCookie)
        api.addHook('onRequest', createOriginGuard(ctx.publicUrl))
        refuseUnknown(api, ['tenantId'])
        // The next user of the browser must not find this member's data in its cache.
        api.addHook('onRequest', async (_request, reply) => void reply.headers(UNKEPT))
        signInRoutes(api, ctx) //   POST /session, POST /session/link
        api.register(async (guarded) => {
          guarded.addHook('onRequest', guard)
          sessionRoutes(guarded, ctx) // GET DELETE /session, PUT /session/password
          settingsRoutes(guarded, ctx) // GET /settings, PATCH PUT and tests below it
          numberRoutes(guarded, ctx) //   GET /number
          keyRoutes(guarded, ctx) //      /keys: GET POST, rotate, DELETE
          noticeRoutes(guarded, ctx) //   GET /notices, POST /notices/{id}/close
          phoneHistoryRoutes(guarded, ctx) // GET /phone-histories
          teamRoutes(guarded, ctx) //     /team: GET POST PATCH DELETE, links
          instanceRoutes(guarded, ctx) // /instances: GET POST DELETE, codes, connect, logout, restart, scan, token
          inboxRoutes(guarded, ctx) //     GET /inbox, /inbox/{contactId}, /tags
          threadRoutes(guarded, ctx) //    /contacts/{contactId}: GET /messages, POST /read
          threadSearchRoutes(guarded, ctx) // GET /contacts/{contactId}/search
          mergeRoutes(guarded, ctx) //     GET /contacts/{contactId}/merges, POST /merges/{id}/undo
          noteRoutes(guarded, ctx) //      POST /contacts/{contactId}/notes, DELETE /notes/{id}
          playCustomerRoutes(guarded, ctx) // POST /contacts/{contactId}/play
          assignmentRoutes(guarded, ctx) // PUT /contacts/{contactId}/assignee
          fileRoutes(guarded, ctx) //      POST /contacts/{contactId}/files
          liveRoutes(guarded, live) //      GET /live
          audienceRoutes(guarded, ctx) // POST /audience
          listRoutes(guarded, ctx) // POST /lists
          placeholderRoutes(guarded, ctx) // GET /placeholders
          analyticsExportRoutes(guarded, ctx) // GET /analytics/export
          guarded.register(interfaceA)
        })
      },
      { prefix: '/api' },
    )
    server.register(pageRoutes(ctx))
  }
}
