// closing-line.mjs <vitest's JSON report> <vitest's exit status> [<step>=<exit status>...]
// Prints a line `failed: …` for each failed step and test, then `N passed, N failed` (`, N skipped` when any). A step
// counts as one; exit status 3 means that it was skipped. Exits with 1 unless something passed and nothing failed.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [reportPath, runnerStatus, ...steps] = process.argv.slice(2)
const files = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')).testResults : []
const counts = { passed: 0, failed: 0, skipped: 0 }

for (const step of steps) {
  const [name, status] = step.split('=')
  if (status === '0') counts.passed += 1
  else if (status === '3') counts.skipped += 1
  else fail(name)
}
const failedSteps = counts.failed
for (const { name, status, assertionResults: tests } of files) {
  const path = relative('.', name)
  for (const test of tests) {
    if (test.status === 'passed') counts.passed += 1
    else if (test.status === 'failed') fail(`${path} > ${[...test.ancestorTitles, test.title].join(' > ')}`)
    else counts.skipped += 1
  }
  // It did not load, or broke in a hook.
  if (status === 'failed' && !tests.some((test) => test.status === 'failed')) fail(path)
}
// The runner also fails on what belongs to no file: its set-up, or an error that nothing caught.
if (runnerStatus !== '0' && counts.failed === failedSteps) fail('the tests as a whole, see above')

const { passed, failed, skipped } = counts
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1

function fail(what) {
  counts.failed += 1
  process.stdout.write(`failed: ${what.replace(/\s+/g, ' ')}\n`)
}
