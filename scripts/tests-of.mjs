// tests-of.mjs <file...>: prints the tests that belong to these files, all relative to the checkout. A test belongs to
// itself. To another file belong the tests that import it, those of the same path (`src/core/contacts/list.ts`:
// `test/core/contacts/list*.test.ts`), and those of the same noun in other layers (`test/**/contacts/list.test.ts`);
// or, if there are none, those of the same folder. Tests named *.soak.test.ts are left out.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const tests = readdirSync('test', { recursive: true })
  .map((path) => join('test', path))
  .filter((path) => path.endsWith('.test.ts') && !path.endsWith('.soak.test.ts'))
const imports = new Map(tests.map((test) => [test, importsOf(test)]))

const chosen = new Set(process.argv.slice(2).flatMap(testsOf))
for (const test of chosen) process.stdout.write(`${test}\n`)

function testsOf(file) {
  if (file.endsWith('.test.ts')) return [file]
  if (!/\.tsx?$/.test(file)) return []
  const place = join('test', file.replace(/^(console\/)?src\//, '$1')).replace(/\.tsx?$/, '')
  const noun = join(basename(dirname(place)), `${basename(place)}.test.ts`)
  const own = tests.filter(
    (test) => test.endsWith(`/${noun}`) || (test.startsWith(place) && /^[-.]/.test(test.slice(place.length))),
  )
  const importing = tests.filter((test) => imports.get(test).includes(resolve(file)))
  if (own.length + importing.length > 0) return [...own, ...importing]
  return dirname(place) === 'test' ? [] : tests.filter((test) => dirname(test) === dirname(place))
}

function importsOf(test) {
  const paths = readFileSync(test, 'utf8').matchAll(/from '(\.[^']+)'/g)
  return [...paths].map(([, path]) => resolve(dirname(test), path.replace(/\.js$/, '.ts')))
}
