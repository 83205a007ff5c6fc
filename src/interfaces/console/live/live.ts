import { Type } from 'typebox'
import type { LiveContext } from '../../../context.js'
import { followLive } from '../../../core/live/follow.js'
import { LiveHub } from '../../../core/live/hub.js'
import { checkMember, sessionOf } from '../../../http/access/session.js'
import { startEventStream } from '../../../http/answers/event-stream.js'
import type { ConsoleServer } from '../server.js'
import { createLiveStreams } from './live-streams.js'

/** Interval of heartbeats, and of checks that the session still exists. */
const BEAT_MS = 20_000

const Query = Type.Object({
  member_id: Type.Optional(
    Type.String({ maxLength: 100, description: 'The member that the page considers signed in' }),
  ),
  last_event_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 8_300, description: 'Used instead of the header Last-Event-ID' }),
  ),
})

/**
 * `GET /live`: the organization's events as server-sent events, until the session ends, the member's role changes, or
 * the service stops.
 */
export function liveRoutes(server: ConsoleServer, ctx: LiveContext, beatMs = BEAT_MS): void {
  const hub = new LiveHub(ctx)
  const streams = createLiveStreams(ctx)

  server.addHook('preClose', async () => streams.close())
  server.addHook('onClose', () => hub.close())
  server.get(
    '/live',
    { config: { scope: 'conversations:read' }, exposeHeadRoute: false, schema: { querystring: Query } },
    async (request, reply) => {
      const session = sessionOf(request)
      checkMember(session.member, request.query.member_id)
      const { tenant, scopes } = request.caller as NonNullable<typeof request.caller>
      const given = request.headers['last-event-id'] ?? request.query.last_event_id
      const after = typeof given === 'string' && given !== '' ? given : null
      streams.checkRoom(tenant.id, session)
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
        send: ({ mark, data }: { mark: string; data: string }) => stream.send({ id: mark, data }),
        reset: (mark: string) => stream.send({ id: mark, type: 'reset', data: '{}' }),
        drained: stream.taken,
        overflow: stream.end,
      }
      await followLive(ctx, hub, { organizationId: tenant.id, scopes, after }, sink).catch((error: unknown) => {
        ctx.log.warn(
          { err: error, organizationId: tenant.id },
          'live events could not be sent to a member; the page reconnects',
        )
        stream.end()
      })
    },
  )
}
