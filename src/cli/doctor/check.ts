import { isDatabaseFull } from '../../database/errors.js'
import { startCountdown, withTimeout } from '../../lib/async/timeout.js'
import { isDiskFull } from '../../lib/files/disk.js'
import { errorMessage } from '../../lib/text/error-message.js'

/** What a check has found. `remedy`: what to do; ok needs none. */
export type Finding = { level: 'ok'; found: string } | { level: 'warning' | 'failed'; found: string; remedy: string }

/** One check of `parley doctor`. It leaves nothing behind. A rejection counts as failed. */
export interface Check {
  name: string
  /** What to do if it rejects, or does not end in time. */
  remedy: string
  /** Several findings are reported one by one. */
  run(): Promise<Finding | Finding[]>
}

/** The result of a check. */
export interface Report {
  check: string
  level: Finding['level']
  found: string
  /** null: nothing is to be done. */
  remedy: string | null
}

const CHECK_MS = 8_000
/** Of all checks of a group, which leaves time to close connections within a minute. */
const GROUP_MS = 50_000

/** Runs the checks of a group one after the other, each with a time limit. Never rejects. */
export async function runChecks(checks: readonly Check[]): Promise<Report[]> {
  const left = startCountdown(GROUP_MS)
  const reports: Report[] = []
  for (const check of checks) reports.push(...(await runCheck(check, Math.min(CHECK_MS, left()))))
  return reports
}

async function runCheck({ name, remedy, run }: Check, ms: number): Promise<Report[]> {
  const failed = (found: string): Finding => ({ level: 'failed', found, remedy })
  const findings =
    ms === 0
      ? failed('not checked: the checks before it took too long')
      : await withTimeout(run(), ms).then(
          (found) => found ?? failed(`no answer within ${Math.round(ms / 1_000)} s`),
          (error: unknown): Finding => ({
            level: 'failed',
            found: errorMessage(error),
            remedy: remedyOf(error) ?? remedy,
          }),
        )
  return [findings].flat().map((finding) => ({
    check: name,
    level: finding.level,
    found: finding.found,
    remedy: 'remedy' in finding ? finding.remedy : null,
  }))
}

/** What to do about an error that has nothing to do with what was checked; null: it has. */
function remedyOf(error: unknown): string | null {
  if (isDatabaseFull(error)) return "make room on the database's disk (docs/runbook.md#parleydiskfull)"
  return isDiskFull(error) ? 'make room on this disk (docs/runbook.md#parleydiskfull)' : null
}

/** All is well. */
export function ok(found: string): Finding {
  return { level: 'ok', found }
}

/** The service works, but not as well as it could. */
export function warning(found: string, remedy: string): Finding {
  return { level: 'warning', found, remedy }
}

/** The service does not work, or not safely. */
export function failed(found: string, remedy: string): Finding {
  return { level: 'failed', found, remedy }
}
