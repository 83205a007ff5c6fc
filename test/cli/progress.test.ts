import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createProgress } from '../../src/cli/progress.js'

function streamsOf(isTTY: boolean) {
  const stderr = Object.assign(new PassThrough(), { isTTY })
  return {
    streams: { stdin: new PassThrough(), stdout: new PassThrough(), stderr },
    shown: () => String(stderr.read() ?? ''),
  }
}

it('shows a bar on a terminal, and removes it', async () => {
  const { streams, shown } = streamsOf(true)
  const progress = createProgress(streams, false)
  progress.expect(200)
  progress.begin('acme: messages')
  await expect
    .poll(() => {
      progress.advance(0)
      return shown()
    })
    .toMatch(/\[-{24}\] 0 % 0 rows, 0\/s, acme: messages$/)
  progress.end()
  expect(shown()).toBe('\r\u001b[K')
})

it('prints nothing if it is quiet, and no bar without a terminal', () => {
  for (const [isTerminal, quiet] of [
    [true, true],
    [false, false],
  ] as const) {
    const { streams, shown } = streamsOf(isTerminal)
    const progress = createProgress(streams, quiet)
    progress.begin('acme: messages')
    progress.advance(1)
    progress.end()
    expect(shown()).toBe('')
  }
})
