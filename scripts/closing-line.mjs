// closing-line.mjs <vitest's JSON report> <vitest's exit status>
// Prints `N passed, N failed` (`, N skipped` when any) and exits with 1 unless something passed and nothing failed.
import { existsSync, readFileSync } from 'node:fs'

const [reportPath, runnerStatus] = process.argv.slice(2)
const files = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')).testResults : []
const statuses = files.flatMap((file) => file.assertionResults.map((test) => test.status))

const passed = statuses.filter((status) => status === 'passed').length
// A file that failed without a failed test did not load, or broke in a hook.
const broken = files.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
).length
const failedTests = statuses.filter((status) => status === 'failed').length + broken
const skipped = statuses.length - passed - (failedTests - broken)
// The runner also fails on what belongs to no file: its set-up, or an error that nobody caught.
const failed = failedTests === 0 && runnerStatus !== '0' ? 1 : failedTests

process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1
