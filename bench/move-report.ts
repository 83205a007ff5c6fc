import { formatTable, type Target } from './report.js'
import type { Moved } from './subjects/move.js'

const MESSAGES = 500_000
const MAX_SECONDS = 60

/** Formats the cost of a move as a table. */
export function formatMove(moved: Moved): string {
  const { messages, rows, archiveMb, exportSeconds, importSeconds, verifySeconds, memoryMb } = moved
  return formatTable(
    ['messages', 'rows', 'archive, MB', 'export, s', 'import, s', 'verify, s', 'RSS, MB'],
    [
      [
        ...[messages, rows, archiveMb].map((figure) => figure.toFixed(0)),
        ...[exportSeconds, importSeconds, verifySeconds].map((figure) => figure.toFixed(1)),
        memoryMb.toFixed(0),
      ],
    ],
  )
}

/** Judges how long 500,000 messages take, and that what arrived verifies. */
export function judgeMove({ messages, exportSeconds, importSeconds, violations }: Moved): Target[] {
  const seconds = ((exportSeconds + importSeconds) * MESSAGES) / messages
  return [
    {
      target: `exporting and importing 500,000 messages takes at most ${MAX_SECONDS} s`,
      measured: `${seconds.toFixed(1)} s`,
      met: seconds <= MAX_SECONDS,
    },
    { target: 'no violation', measured: String(violations), met: violations === 0 },
  ]
}
