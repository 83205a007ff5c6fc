import type { LiveContext } from '../../../context.js'
import { createRoleLookup, type Session } from '../../../core/identity/sessions.js'
import type { EventStream } from '../../../http/answers/event-stream.js'
import type { Notification } from '../../../model/notification.js'
import { Problem } from '../../../model/problem.js'

/** Maximum per member and process: more than a member has tabs that cannot share a stream. */
const MAX_OF_MEMBER = 20
/** Maximum per organization and process. */
const MAX_OF_ORGANIZATION = 1_000
/** Maximum of all members; each stream may buffer unsent events. */
const MAX_STREAMS = 4_000
const RETRY_SECONDS = 5

/** The event streams of a process. Each lasts as long as its session and the role in which it began. */
export interface LiveStreams {
  /**
   * Throws too_many_requests if the member or the organization has too many streams, service_unavailable if all of them
   * together do.
   */
  checkRoom(organizationId: string, session: Session): void
  /** Adds a stream, which ends when its session ends or its member's role changes. */
  add(stream: EventStream, organizationId: string, session: Session): void
  /** Ends the stream if its session has ended, since notifications may be lost. */
  check(stream: EventStream): void
  /** Ends all streams, and any that is added later. */
  close(): void
}

/** Creates the streams of this process. */
export function createLiveStreams(ctx: LiveContext): LiveStreams {
  const open = new Map<EventStream, { organizationId: string; session: Session }>()
  const findRole = createRoleLookup(ctx)
  let isClosing = false
  let stopListening: (() => void) | null = null

  function receive(notification: Notification): void {
    if (notification.topic !== 'sessions' && notification.topic !== 'missed') return
    const ids = notification.topic === 'sessions' ? notification.organizationIds : null
    for (const [stream, { organizationId }] of open) if (ids?.includes(organizationId) ?? true) check(stream)
  }

  function check(stream: EventStream): void {
    const found = open.get(stream)
    if (!found) return
    const { organizationId, session } = found
    findRole(organizationId, session.id).then(
      (role) => {
        if (role !== session.member.role) stream.end()
      },
      // If the database cannot be reached, the stream continues.
      () => undefined,
    )
  }

  return {
    checkRoom: (organizationId, { member }) => {
      const ofTeam = Array.from(open.values()).filter((one) => one.organizationId === organizationId)
      const own = ofTeam.filter(({ session }) => session.member.id === member.id).length
      if (own >= MAX_OF_MEMBER) {
        throw new Problem('too_many_requests', `You have ${own} console pages open: close some of them`, {
          retry_after: RETRY_SECONDS,
        })
      }
      if (ofTeam.length >= MAX_OF_ORGANIZATION) {
        throw new Problem(
          'too_many_requests',
          `Your team has ${ofTeam.length} console pages open: close some of them`,
          {
            retry_after: RETRY_SECONDS,
          },
        )
      }
      if (open.size >= MAX_STREAMS) {
        throw new Problem('service_unavailable', 'Too many console pages are open. Try again later', {
          retry_after: RETRY_SECONDS,
        })
      }
    },
    add: (stream, organizationId, session) => {
      if (isClosing) stream.end()
      if (stream.signal.aborted) return
      stopListening ??= ctx.notifications.listen(receive)
      open.set(stream, { organizationId, session })
      stream.signal.addEventListener('abort', () => open.delete(stream))
      // The session may have ended since the request was authenticated.
      check(stream)
    },
    check,
    close: () => {
      isClosing = true
      stopListening?.()
      for (const stream of open.keys()) stream.end()
    },
  }
}
