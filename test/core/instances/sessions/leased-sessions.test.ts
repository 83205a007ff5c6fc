import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createLeasedSessions } from '../../../../src/core/instances/sessions/leased-sessions.js'
import type { RunningSession } from '../../../../src/core/instances/sessions/running-session.js'

it('starts the devices of all organizations in rotation', () => {
  const started: string[] = []
  const answered: (() => void)[] = []
  const sessions = createLeasedSessions({
    start: ({ instance }, onAnswered) => {
      started.push(instance.id)
      answered.push(onAnswered)
      return {} as RunningSession
    },
    onClosed: () => undefined,
    log: pino({ level: 'silent' }),
  })
  const until = performance.now() + 60_000
  for (const id of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'c1']) {
    sessions.add({ organization_id: id.charAt(0), id, wanted: true, settings: {} }, until)
  }
  sessions.startWaiting()
  for (let next = 0; next < answered.length; next++) answered[next]?.()
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', 'a5', 'a6'])
})
