// failed-files.mjs <vitest's JSON report>: prints the paths of the files in which something failed, one a line.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

for (const { name, status } of JSON.parse(readFileSync(process.argv[2], 'utf8')).testResults) {
  if (status === 'failed') process.stdout.write(`${relative('.', name)}\n`)
}
