import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSpool, type Spool } from '../../../src/lib/files/spool.js'

let root: string
let folder: string
let spool: Spool
let count = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'parley-spool-'))
})

beforeEach(() => {
  folder = join(root, `${count++}`, 'spool')
  spool = createSpool(folder)
})

afterAll(() => rm(root, { recursive: true }))

describe('use', () => {
  it('creates the folder on first use, for this user only', async () => {
    expect(existsSync(folder)).toBe(false)
    await spool.use(async () => undefined)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('provides a separate path each time, returns the result, and leaves nothing', async () => {
    const work = async (path: string) => {
      expect(dirname(path)).toBe(folder)
      expect(existsSync(path)).toBe(false)
      await writeFile(path, 'x')
      return path
    }
    const paths = await Promise.all([spool.use(work), spool.use(work)])
    expect(new Set(paths).size).toBe(2)
    expect(await readdir(folder)).toEqual([])
  })

  it('leaves nothing if the work fails, and throws its error', async () => {
    const work = async (path: string) => {
      await writeFile(path, 'x')
      throw new Error('the work failed')
    }
    await expect(spool.use(work)).rejects.toThrow('the work failed')
    expect(await readdir(folder)).toEqual([])
  })

  it('accepts work that wrote nothing or removed its file', async () => {
    expect(await spool.use(async () => 1)).toBe(1)
  })
})

describe('sweep', () => {
  const hourMs = 3_600_000

  /** A file left by a process of another machine that was killed during its work. */
  async function leave(hoursAgo: number, machine = '0123456789ab'): Promise<string> {
    const own = await spool.use(async (given) => given)
    const path = own.replace(/spool-[0-9a-f]{12}/, `spool-${machine}`)
    await writeFile(path, 'x')
    const time = new Date(Date.now() - hoursAgo * hourMs)
    await utimes(path, time, time)
    return path
  }

  it('removes all old files, and no new ones', async () => {
    const old = await leave(3)
    const fresh = await leave(1)
    expect(await createSpool(folder).sweep(2 * hourMs)).toBe(1)
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true])
  })

  it('removes the files of a dead process at once, and none of a living one', async () => {
    const own = await spool.use(async (given) => given)
    await writeFile(own, 'x')
    const gone = spawnSync(process.execPath, ['--eval', '']).pid
    const of = (pid: number, since = 'a') => own.replace(/-\d+-[0-9a-z]+-(?=[0-9a-f-]{36}$)/, `-${pid}-${since}-`)
    // From an earlier process with this process id, as after a container restart; and from another machine.
    const left = [of(gone), of(process.pid)]
    const kept = [of(process.ppid), of(gone).replace(/spool-[0-9a-f]{12}/, 'spool-0123456789ab')]
    for (const path of [...left, ...kept]) await writeFile(path, 'x')
    expect(await createSpool(folder).sweep(hourMs)).toBe(2)
    expect([...left, ...kept, own].map((path) => existsSync(path))).toEqual([false, false, true, true, true])
  })

  it('keeps the file of work that goes on, however long ago it was written', async () => {
    await spool.use(async (path) => {
      await writeFile(path, 'x')
      await utimes(path, 0, 0)
      expect(await createSpool(folder).sweep(hourMs)).toBe(0)
      expect(existsSync(path)).toBe(true)
    })
  })

  it('keeps files that no spool wrote', async () => {
    await spool.use(async () => undefined)
    const other = join(folder, 'letter.txt')
    await writeFile(other, 'x')
    await utimes(other, 0, 0)
    expect(await spool.sweep(hourMs)).toBe(0)
    expect(existsSync(other)).toBe(true)
  })

  it('does nothing if the folder does not exist yet', async () => {
    expect(await spool.sweep(hourMs)).toBe(0)
  })
})
