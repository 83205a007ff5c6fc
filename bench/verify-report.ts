import { formatTable, type Target } from './report.js'
import type { Verified } from './subjects/verify.js'

/** Formats the cost of verifying as a table. */
export function formatVerify({ messages, rows, seconds, violations, memoryMb }: Verified): string {
  return formatTable(
    ['messages', 'rows read', 'seconds', 'rows/s', 'violations', 'RSS, MB'],
    [[messages, rows, seconds, rows / seconds, violations, memoryMb].map((figure) => figure.toFixed(0))],
  )
}

/** Judges nothing but that the filled database verifies. */
export function judgeVerify({ violations }: Verified): Target[] {
  return [{ target: 'no violation', measured: String(violations), met: violations === 0 }]
}
