// closing-line.mjs <what the runs of tests reported> <seconds> [<step>=<exit status>...]
// The reports: a folder with first.json and, if its failed files ran again, second.json. They are vitest's. Beside each of them,
// `<report>.status` has vitest's exit status, and `<report>.uncaught` how many errors nothing caught: a run with one fails, even
// if all its files pass when they run again.
// Prints a line `failed: …` for each failed step and test, `flaky: …` for each that failed at first and passed alone, the
// three slowest files, then `N passed, N failed` (`, N skipped` when any). A step counts as one; exit status 3 means that it was
// skipped. Exits with 1 unless something passed and nothing failed.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const [folder, seconds, ...steps] = process.argv.slice(2)
const first = read('first')
const second = read('second')
const counts = { passed: 0, failed: 0, skipped: 0 }

for (const step of steps) {
  const [name, status] = step.split('=')
  if (status === '0') counts.passed += 1
  else if (status === '3') counts.skipped += 1
  else fail(name)
}
const failedSteps = counts.failed
for (const file of first.files) {
  const again = second.files.find(({ name }) => name === file.name)
  for (const title of failuresOf(file)) {
    if (again && !failuresOf(again).includes(title)) say('flaky', title)
  }
  count(again ?? file)
}
const uncaught = first.uncaught + second.uncaught
if (uncaught > 0) fail(`${uncaught} errors that nothing caught, see above`)
// The runner also fails on what belongs to no file, such as its set-up.
const last = second.status === null ? first : second
if (last.status !== '0' && counts.failed === failedSteps) fail('the tests as a whole, see above')

const { passed, failed, skipped } = counts
process.stdout.write(`took ${seconds} s${slowest()}\n`)
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1

function read(name) {
  const path = join(folder, `${name}.json`)
  const besides = (kind) => (existsSync(`${path}.${kind}`) ? readFileSync(`${path}.${kind}`, 'utf8').trim() : null)
  const files = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : []
  return { status: besides('status'), uncaught: Number(besides('uncaught')), files }
}

/** The titles of what failed in a file; the file's path, if it did not load or broke in a hook. */
function failuresOf({ name, status, assertionResults: tests }) {
  const path = relative('.', name)
  const failed = tests.filter((test) => test.status === 'failed')
  if (status === 'failed' && failed.length === 0) return [path]
  return failed.map((test) => `${path} > ${[...test.ancestorTitles, test.title].join(' > ')}`)
}

function count(file) {
  for (const { status } of file.assertionResults) {
    if (status === 'passed') counts.passed += 1
    else if (status !== 'failed') counts.skipped += 1
  }
  for (const title of failuresOf(file)) fail(title)
}

function slowest() {
  const files = first.files.map(({ name, startTime, endTime }) => ({ name, took: (endTime - startTime) / 1_000 }))
  const three = files.sort((one, other) => other.took - one.took).slice(0, 3)
  return three.length === 0 ? '' : `; the slowest files: ${three.map(show).join(', ')}`
}

function show({ name, took }) {
  return `${relative('.', name)} (${Math.round(took)} s)`
}

function fail(what) {
  counts.failed += 1
  say('failed', what)
}

function say(how, what) {
  process.stdout.write(`${how}: ${what.replace(/\s+/g, ' ')}\n`)
}
