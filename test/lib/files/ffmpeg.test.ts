import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConversionOptions, convertFile, isFfmpegInstalled } from '../../../src/lib/files/ffmpeg.js'
import { hasFfmpeg, makeWithFfmpeg, withoutFfmpeg } from '../../support/ffmpeg.js'
import { mp3 } from '../../support/media.js'

let folder: string
let source: string
let target: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-ffmpeg-'))
  source = join(folder, 'source')
  target = join(folder, 'target')
  await writeFile(source, mp3())
})

afterAll(() => rm(folder, { recursive: true }))

const usual = { formats: ['mp3'], output: ['-f', 'wav'], maxBytes: 1_048_576, timeoutMs: 60_000 }

const convert = (options: Partial<ConversionOptions> = {}, path = source) =>
  convertFile(path, target, { ...usual, ...options })

it('reports a missing ffmpeg', () =>
  withoutFfmpeg(async () => {
    expect(await convert()).toEqual({ outcome: 'missing' })
    expect(await isFfmpegInstalled()).toBe(false)
  }))

describe.skipIf(!hasFfmpeg)('a file', () => {
  it('is converted', async () => {
    expect(await isFfmpegInstalled()).toBe(true)
    expect(await convert()).toEqual({ outcome: 'converted' })
    expect((await readFile(target)).toString('latin1', 0, 4)).toBe('RIFF')
  })

  it('of an unexpected format is refused without revealing its path', async () => {
    const converted = await convert({ formats: ['ogg'] })
    expect(converted).toEqual({ outcome: 'failed', text: expect.stringMatching(/.{10}/) })
    expect(JSON.stringify(converted)).not.toContain(folder)
  })

  it('cannot refer to another file', async () => {
    const list = join(folder, 'list')
    await writeFile(list, `ffconcat version 1.0\nfile ${source}\n`)
    expect((await convert({}, list)).outcome).toBe('failed')
  })

  it('that does not exist is refused', async () => {
    expect(await convert({}, join(folder, 'none'))).toEqual({
      outcome: 'failed',
      text: expect.stringContaining('No such file'),
    })
  })

  it('is cut at the limit', async () => {
    const long = join(folder, 'long.mp3')
    await makeWithFfmpeg(long, '-f', 'lavfi', '-i', 'sine=duration=20')
    expect(await convert({ maxBytes: 100_000 }, long)).toEqual({ outcome: 'converted' })
    // ffmpeg checks the limit once per packet.
    expect((await stat(target)).size).toBeLessThan(200_000)
  })

  it('that takes too long is given up', async () => {
    expect(await convert({ timeoutMs: 1 })).toEqual({ outcome: 'failed', text: 'it took longer than 0.001 s' })
  })
})
