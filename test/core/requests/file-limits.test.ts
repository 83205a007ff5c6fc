import { describe, expect, it } from 'vitest'
import { createFileLimiter, IMPORTED_FILES, SENT_FILES } from '../../../src/core/requests/file-limits.js'

/** Work that lasts until it is released. */
function held() {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  return { work: () => released, release }
}

describe('the limit for files', () => {
  it('runs 32 of an organization at a time, without blocking other organizations', async () => {
    const gate = createFileLimiter(SENT_FILES)
    const { work, release } = held()
    const passing = Array.from({ length: 32 }, () => gate.pass('one', work))
    await expect(gate.pass('one', work)).rejects.toMatchObject({
      code: 'too_many_requests',
      message: expect.stringContaining('32 files'),
      extras: { retry_after: 5 },
    })
    await expect(gate.pass('another', async () => 'through')).resolves.toBe('through')
    release()
    await Promise.all(passing)
    await expect(gate.pass('one', async () => 'through')).resolves.toBe('through')
  })

  it('runs 128 of all organizations at a time', async () => {
    const gate = createFileLimiter(SENT_FILES)
    const { work, release } = held()
    const passing = Array.from({ length: 128 }, (_, index) => gate.pass(`organization ${index % 8}`, work))
    await expect(gate.pass('another', work)).rejects.toMatchObject({ code: 'too_many_requests' })
    release()
    await Promise.all(passing)
    await expect(gate.pass('another', async () => 'through')).resolves.toBe('through')
  })

  it('runs 4 imports of an organization at a time, and 8 in total', async () => {
    const gate = createFileLimiter(IMPORTED_FILES)
    const { work, release } = held()
    const passing = Array.from({ length: 4 }, () => gate.pass('one', work))
    await expect(gate.pass('one', work)).rejects.toMatchObject({ message: expect.stringContaining('4 files') })
    passing.push(...Array.from({ length: 4 }, () => gate.pass('another', work)))
    await expect(gate.pass('a third', work)).rejects.toMatchObject({ code: 'too_many_requests' })
    release()
    await Promise.all(passing)
  })

  it('frees its slot after a failure', async () => {
    const gate = createFileLimiter(SENT_FILES)
    for (let count = 0; count < 40; count++) {
      await expect(gate.pass('one', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    }
  })
})
