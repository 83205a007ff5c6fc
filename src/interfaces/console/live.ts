import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { followLive } from '../../core/live/follow.js'
import { createLiveHub } from '../../core/live/hub.js'
import { startEventStream } from '../../http/event-stream.js'
import { checkMember, sessionOf } from '../../http/session.js'
import { createLiveStreams } from './live-streams.js'
import type { ConsoleServer } from './server.js'

/** How often something is sent at least, and it is looked whether the session goes on. */
const BEAT_MS = 20_000

const Query = Type.Object({
  member_id: Type.Optional(Type.String({ maxLength: 100, description: 'Whom the page believes to be signed in' })),
  last_event_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8_300, description: 'In place of the header Last-Event-ID' }),
  ),
})

/** `GET /live`: what happens in the organization, as server-sent events; until the session ends, its member's role changes, or the service ends. */
export function liveRoutes(server: ConsoleServer, ctx: Context, beatMs = BEAT_MS): void {
  const hub = createLiveHub(ctx)
  const streams = createLiveStreams(ctx)

  server.addHook('preClose', async () => streams.close())
  server.addHook('onClose', hub.close)
  server.get(
    '/live',
    { config: { scope: 'conversations:read' }, exposeHeadRoute: false, schema: { querystring: Query } },
    async (request, reply) => {
      const session = sessionOf(request)
      checkMember(session.member, request.query.member_id)
      const { tenant, scopes } = request.caller as NonNullable<typeof request.caller>
      const given = request.headers['last-event-id'] ?? request.query.last_event_id
      const after = typeof given === 'string' && given !== '' ? given : null
      streams.checkRoom(session)
      const stream = startEventStream(reply)
      streams.add(stream, tenant.id, session)
      if (stream.signal.aborted) return
      const timer = setInterval(() => {
        stream.beat()
        streams.check(stream)
      }, beatMs)
      stream.signal.addEventListener('abort', () => clearInterval(timer))
      const sink = {
        signal: stream.signal,
        begin: (mark: string) => stream.send({ id: mark }),
        tell: ({ mark, data }: { mark: string; data: string }) => stream.send({ id: mark, data }),
        reset: (mark: string) => stream.send({ id: mark, type: 'reset', data: '{}' }),
        taken: stream.taken,
        cut: stream.end,
      }
      await followLive(ctx, hub, { organizationId: tenant.id, scopes, after }, sink).catch((error: unknown) => {
        ctx.log.warn(
          { err: error, organizationId: tenant.id },
          'a member could not be told of events; the page asks again',
        )
        stream.end()
      })
    },
  )
}
