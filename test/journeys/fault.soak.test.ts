import { describe, expect, it, vi } from 'vitest'
import { patience } from '../support/patience.js'
import { prepareFaults } from './support/faults.js'
import { descendantsOf, stillRunning } from './support/process-table.js'
import { type Program, startProgram } from './support/programs.js'
import { call } from './support/service.js'

const env = prepareFaults()

describe('a fault that nothing catches', () => {
  it('makes up restart over the same data, and up can still be stopped as usual', async () => {
    const program = await startProgram(['up'], { env: env() })
    await ready(program, 1)
    const { key, url } = factsOf(program)
    for (const [turn, signal] of (['SIGUSR2', 'SIGKILL'] as const).entries()) {
      process.kill(await serviceOf(program), signal)
      await ready(program, turn + 2)
    }
    const again = factsOf(program)
    expect(again.key).toBe(key)
    expect(again.url).not.toBe(url)
    expect(await call(`${again.url}/conversations?chatNumber=5511900001234`, 'GET', { key })).toMatchObject({
      status: 200,
    })
    expect(program.errors.filter((line) => line.includes('restarting in'))).toEqual([
      'parley: the service ended (exit code 1); restarting in 1 s',
      'parley: the service ended (SIGKILL); restarting in 2 s',
    ])
    const family = await descendantsOf(program.pid)
    program.kill('SIGTERM')
    expect(await program.exited).toEqual({ code: 0, signal: null })
    await vi.waitFor(async () => expect(await stillRunning(family)).toEqual([]), patience)
  })

  it('of the supervisor ends the service too', async () => {
    const program = await startProgram(['up'], { env: env() })
    await ready(program, 1)
    const family = await descendantsOf(program.pid)
    program.kill('SIGKILL')
    await vi.waitFor(async () => expect(await stillRunning(family)).toEqual([]), patience)
  })

  it('does not restart after a wrong configuration', async () => {
    const program = await startProgram(['up'], { env: { ...env(), PARLEY_PORT: 'none' } })
    program.firstLine.catch(() => undefined)
    expect(await program.exited).toEqual({ code: 2, signal: null })
    expect(program.errors).toHaveLength(1)
  })
})

function ready({ output }: Program, times: number): Promise<void> {
  return vi.waitFor(() => {
    expect(output.filter((line) => line.startsWith('Ctrl-C stops'))).toHaveLength(times)
  }, patience)
}

/** What the last start printed. */
function factsOf({ output }: Program): { key: string; url: string } {
  const last = (pattern: RegExp) => [...output.join('\n').matchAll(pattern)].at(-1)?.[1] ?? ''
  return { key: last(/API key +(\S+)/g), url: last(/parley ready on (\S+)/g) }
}

/** The process id of the service that the supervisor started. */
async function serviceOf({ pid }: Program): Promise<number> {
  const below = await descendantsOf(pid)
  const first = below[0]
  if (first === undefined) throw new Error('there is no service')
  return first
}
