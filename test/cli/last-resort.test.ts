import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { transpile } from '../support/transpile.js'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'last-resort-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('ends a process that something keeps running, with its exit code, once all its output has been read', async () => {
  const source = await readFile(new URL('../../src/cli/last-resort.ts', import.meta.url), 'utf8')
  await writeFile(join(folder, 'last-resort.mjs'), transpile(source))
  await writeFile(
    join(folder, 'program.mjs'),
    `import { endSoon } from './last-resort.mjs'
     setInterval(() => process.stderr.write('.'), 250)
     process.stdout.write('x'.repeat(1_000_000))
     process.exitCode = 3
     endSoon()`,
  )
  const child = spawn(process.execPath, [join(folder, 'program.mjs')])
  let dots = 0
  // Its output is not read until its time is over.
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (written: Buffer) => {
      dots += written.length
      if (dots === 10) resolve()
    })
  })
  const [written, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect({ length: written.length, code }).toEqual({ length: 1_000_000, code: 3 })
})
