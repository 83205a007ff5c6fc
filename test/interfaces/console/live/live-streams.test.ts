import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Session } from '../../../../src/core/identity/sessions.js'
import type { EventStream } from '../../../../src/http/answers/event-stream.js'
import { createLiveStreams, type LiveStreams } from '../../../../src/interfaces/console/live/live-streams.js'
import type { TeamMember } from '../../../../src/model/organizations/member.js'
import { useWorld } from '../../../support/world.js'

const [NOISY, QUIET] = [randomUUID(), randomUUID()]

const world = useWorld()
let streams: LiveStreams

beforeAll(async () => {
  streams = createLiveStreams({ ...world.app.ctx, purpose: 'live' })
})

afterAll(async () => {
  streams.close()
})

function newSession(): Session {
  const member = { id: randomUUID(), role: 'agent' } as TeamMember
  return { id: randomUUID(), member, byLink: false, expiresAt: world.now() }
}

/** A stream without a connection. */
function newStream(): EventStream {
  const ended = new AbortController()
  const nothing = () => undefined
  return { signal: ended.signal, send: nothing, beat: nothing, taken: async () => undefined, end: () => ended.abort() }
}

it('an organization has at most 1,000 streams, which leave room for others', () => {
  for (let count = 0; count < 1_000; count++) {
    streams.checkRoom(NOISY, newSession())
    streams.add(newStream(), NOISY, newSession())
  }
  expect(() => streams.checkRoom(NOISY, newSession())).toThrow('Your team has 1000 console pages open')
  expect(() => streams.checkRoom(QUIET, newSession())).not.toThrow()
})
