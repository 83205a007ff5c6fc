import { formatTable, type Target } from './report.js'
import type { Bodies } from './subjects/bodies.js'

/** No request may block the others for longer. */
const MAX_BLOCKED_MS = 50
/** What a flood may take in addition, and how long a request beside it may wait. */
const MAX_MORE_MB = 150
const MAX_BESIDE_MS = 200

/** Formats what large bodies do to the service as two tables. */
export function formatBodies({ rows, floods }: Bodies): string {
  const one = formatTable(
    ['body', 'MB', 'status', 'answered, ms', 'loop blocked, ms', 'RSS after, MB'],
    rows.map(({ name, megabytes, status, answeredMs, blockedMs, memoryMb }) => [
      name,
      megabytes.toFixed(1),
      String(status),
      answeredMs.toFixed(0),
      blockedMs.toFixed(0),
      memoryMb.toFixed(0),
    ]),
  )
  const many = formatTable(
    ['bodies of 1 MB at the same time', 'bodies', 'status', 'all answered, ms', 'more RSS, MB', 'request beside, ms'],
    floods.map(({ name, bodies, statuses, answeredMs, moreMb, besideMs }) => [
      name,
      String(bodies),
      statuses.join(' '),
      answeredMs.toFixed(0),
      moreMb.toFixed(0),
      besideMs.toFixed(0),
    ]),
  )
  return `${one}\n\n${many}`
}

/** Judges the longest block of the event loop, and the worst flood. */
export function judgeBodies({ rows, floods }: Bodies): Target[] {
  const longest = Math.max(...rows.map(({ blockedMs }) => blockedMs))
  const moreMb = Math.max(...floods.map((flood) => flood.moreMb))
  const besideMs = Math.max(...floods.map((flood) => flood.besideMs))
  return [
    {
      target: `no body blocks the event loop for more than ${MAX_BLOCKED_MS} ms`,
      measured: `${longest.toFixed(0)} ms`,
      met: longest <= MAX_BLOCKED_MS,
    },
    {
      target: `bodies at the same time take at most ${MAX_MORE_MB} MB`,
      measured: `${moreMb.toFixed(0)} MB`,
      met: moreMb <= MAX_MORE_MB,
    },
    {
      target: `a request beside them is answered within ${MAX_BESIDE_MS} ms`,
      measured: `${besideMs.toFixed(0)} ms`,
      met: besideMs <= MAX_BESIDE_MS,
    },
  ]
}
