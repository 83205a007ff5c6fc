import type { Examples } from '../../../src/http/description/examples.js'

const WIDTH = 118

const HEAD = `// biome-ignore-all format: recorded; \`npx vitest run test/interfaces/description/examples.test.ts -u\` records again
import type { Examples } from '../../../http/description/examples.js'

`

/** The examples as a module. */
export function printExamples(examples: Examples): string {
  return `${HEAD}export const examples: Examples = ${print(examples, '')}\n`
}

/** JSON; what fits on a line stands on one. */
function print(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const items = Array.isArray(value)
    ? value.map((one) => print(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${print(one, inner)}`)
  const flat = `${open}${items.join(', ')}${close}`
  if (indent.length + flat.length <= WIDTH && !flat.includes('\n')) return flat
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`
}
