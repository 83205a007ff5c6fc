import { formatTable, type Target } from './report.js'
import type { BodyRow } from './subjects/bodies.js'

/** No request may block the others for longer. */
const MAX_BLOCKED_MS = 50

/** Formats what large bodies do to the service as a table. */
export function formatBodies(rows: readonly BodyRow[]): string {
  return formatTable(
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
}

/** Judges the longest block of the event loop. */
export function judgeBodies(rows: readonly BodyRow[]): Target[] {
  const longest = Math.max(...rows.map(({ blockedMs }) => blockedMs))
  return [
    {
      target: `no body blocks the event loop for more than ${MAX_BLOCKED_MS} ms`,
      measured: `${longest.toFixed(0)} ms`,
      met: longest <= MAX_BLOCKED_MS,
    },
  ]
}
