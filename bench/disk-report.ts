import { formatTable, type Target } from './report.js'
import type { DiskCost } from './subjects/disk.js'

const MAX_KEPT = 4_000
const MAX_WAL = 8_000

/** Formats what a sent message leaves on disk as tables. */
export function formatDisk(costs: readonly DiskCost[]): string {
  return costs
    .map(({ title, messages, tables, wal, walPages }) =>
      formatTable(
        [`bytes per message, ${title} (${messages.toLocaleString('en')} sent)`, 'rows', 'indexes', 'both'],
        [
          ...tables.map(({ name, rows, indexes }) => [name, ...[rows, indexes, rows + indexes].map(whole)]),
          ['all tables', '', '', whole(keptOf({ tables }))],
          [`WAL, with ${walPages.toFixed(2)} whole pages`, '', '', whole(wal)],
        ],
      ),
    )
    .join('\n\n')
}

/** Compares it with the targets. */
export function judgeDisk([without]: readonly DiskCost[]): Target[] {
  if (without === undefined) return []
  const kept = keptOf(without)
  return [
    {
      target: `a sent message keeps at most ${MAX_KEPT} bytes`,
      measured: `${whole(kept)} bytes`,
      met: kept <= MAX_KEPT,
    },
    {
      target: `and writes at most ${MAX_WAL} bytes of WAL`,
      measured: `${whole(without.wal)} bytes`,
      met: without.wal <= MAX_WAL,
    },
  ]
}

function keptOf({ tables }: Pick<DiskCost, 'tables'>): number {
  return tables.reduce((sum, { rows, indexes }) => sum + rows + indexes, 0)
}

function whole(bytes: number): string {
  return bytes.toFixed(0)
}
