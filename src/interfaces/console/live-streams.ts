import type { Context } from '../../context.js'
import { roleOfSession, type Session } from '../../core/identity/sessions.js'
import type { EventStream } from '../../http/event-stream.js'
import type { Notification } from '../../model/notification.js'
import { Problem } from '../../model/problem.js'

/** Of one member at a time in this process: more than anybody has tabs that cannot share one. */
const MAX_OF_MEMBER = 20
/** Of all members; each may hold back as much as an event stream buffers. */
const MAX_STREAMS = 4_000
const RETRY_SECONDS = 5

/** The event streams of a process, each of which lasts as long as its session, in the role in which it began. */
export interface LiveStreams {
  /** Throws too_many_requests where the member has too many streams, service_unavailable where all members have. */
  checkRoom(session: Session): void
  /** Ends the stream when its session ends or its member has another role. */
  add(stream: EventStream, organizationId: string, session: Session): void
  /** Ends it where that has happened: signals may be lost. */
  check(stream: EventStream): void
  /** Ends all, and every one that is added later. */
  close(): void
}

/** Makes the streams of a process. */
export function createLiveStreams(ctx: Pick<Context, 'database' | 'clock' | 'notifications'>): LiveStreams {
  const open = new Map<EventStream, { organizationId: string; session: Session }>()
  let isClosing = false
  let stopListening: (() => void) | null = null

  function hear(notification: Notification): void {
    if (notification.topic !== 'sessions') return
    for (const [stream, { organizationId }] of open) {
      if (notification.organizationIds?.includes(organizationId) ?? true) check(stream)
    }
  }

  function check(stream: EventStream): void {
    const found = open.get(stream)
    if (!found) return
    const { organizationId, session } = found
    roleOfSession(ctx, organizationId, session.id).then(
      (role) => {
        if (role !== session.member.role) stream.end()
      },
      // A database that cannot be reached for a moment ends no session.
      () => undefined,
    )
  }

  return {
    checkRoom: ({ member }) => {
      const own = Array.from(open.values()).filter(({ session }) => session.member.id === member.id).length
      if (own >= MAX_OF_MEMBER) {
        throw new Problem('too_many_requests', `You have ${own} console pages open: close some of them`, {
          retry_after: RETRY_SECONDS,
        })
      }
      if (open.size >= MAX_STREAMS) {
        throw new Problem('service_unavailable', 'Too many console pages are open right now: try again later', {
          retry_after: RETRY_SECONDS,
        })
      }
    },
    add: (stream, organizationId, session) => {
      if (isClosing) stream.end()
      if (stream.signal.aborted) return
      stopListening ??= ctx.notifications.listen(hear)
      open.set(stream, { organizationId, session })
      stream.signal.addEventListener('abort', () => open.delete(stream))
    },
    check,
    close: () => {
      isClosing = true
      stopListening?.()
      for (const stream of open.keys()) stream.end()
    },
  }
}
