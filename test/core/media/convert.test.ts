import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.js'
import { CONVERSIONS, type FileConversion, type Prepared, withPrepared } from '../../../src/core/media/convert.js'
import { createFileLimiter, SENT_FILES } from '../../../src/core/requests/file-limits.js'
import { FairPlaces } from '../../../src/lib/async/fair-places.js'
import { createSpool } from '../../../src/lib/files/spool.js'
import { createAddressGuard } from '../../../src/lib/http/address-guard.js'
import { createFetcher } from '../../../src/lib/http/safe-fetch.js'
import type { FileSource } from '../../../src/model/messages/content.js'
import { describeMedia, hasFfmpeg, makeWithFfmpeg, withoutFfmpeg } from '../../support/ffmpeg.js'
import { type HttpServer, startHttpServer } from '../../support/http-server.js'
import { gif, jpeg, mp3, ogg, oggOf, padded, png, webp } from '../../support/media.js'

let folder: string
let files: HttpServer
let ctx: Context

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-convert-'))
  files = await startHttpServer((_request, response) => void response.end(ogg()))
  const guard = createAddressGuard(['127.0.0.1'])
  // The rest is not needed here.
  ctx = {
    spool: createSpool(join(folder, 'spool')),
    limits: { sentFiles: createFileLimiter(SENT_FILES), conversions: new FairPlaces(CONVERSIONS) },
    fetcher: createFetcher({ guard, trustedOrigins: [] }),
  } as unknown as Context
})

afterAll(async () => {
  await ctx.fetcher.close()
  await files.close()
  await rm(folder, { recursive: true })
})

/** No file may be left in the spool. */
afterEach(async () => {
  expect(await readdir(join(folder, 'spool')).catch(() => [])).toEqual([])
})

const voice = (encoding: boolean | null = null): FileConversion => ({ kind: 'voice', encoding })
const sticker: FileConversion = { kind: 'sticker' }

const NAMED = { organizationId: 'one', field: 'audio' }

/** Prepares a file; resolves to the arguments of the work, with the bytes. */
async function prepare(source: FileSource, conversion: FileConversion) {
  return withPrepared(ctx, { ...NAMED, source, conversion }, async (prepared: Prepared) => ({
    ...prepared,
    bytes: await readFile(prepared.file.path),
    told: conversion.kind === 'voice' && hasFfmpeg ? await describeMedia(prepared.file.path) : '',
  }))
}

async function given(bytes: Buffer): Promise<{ path: string }> {
  const path = join(folder, 'given')
  await writeFile(path, bytes)
  return { path }
}

const refusal = (reason: string) => ({ code: 'invalid_media', extras: { reason } })

describe('a voice note', () => {
  it('that already has the right format is used as it is, also from a URL', async () => {
    const source = await given(ogg())
    for (const encoding of [null, true, false]) {
      expect(await prepare(source, voice(encoding))).toMatchObject({ file: source, voice: true, bytes: ogg() })
    }
    expect(await prepare({ url: `${files.url}/a` }, voice())).toMatchObject({ voice: true, bytes: ogg() })
  })

  it('is not converted if the file should be sent unchanged', async () => {
    expect(await prepare(await given(mp3()), voice(false)).catch((error) => error)).toMatchObject({
      voice: false,
      bytes: mp3(),
    })
  })

  it('without ffmpeg is sent as it is, or refused if the conversion is required', async () => {
    const source = await given(mp3())
    await withoutFfmpeg(async () => {
      expect(await withPrepared(ctx, { ...NAMED, source, conversion: voice() }, async (prepared) => prepared)).toEqual({
        file: source,
        voice: false,
      })
      const insisted = { ...NAMED, source, conversion: voice(true) }
      await expect(withPrepared(ctx, insisted, async () => null)).rejects.toMatchObject({
        code: 'not_supported',
        message: expect.stringContaining('install ffmpeg'),
      })
    })
  })

  it.each([
    ['empty', Buffer.alloc(0), 'empty'],
    ['too big', padded(mp3(), 16 * 1_048_576 + 1), 'too_big'],
  ])('%s is refused', async (_name, bytes, reason) => {
    await expect(prepare(await given(bytes), voice())).rejects.toMatchObject(refusal(reason))
  })

  it('is given up if the request is aborted', async () => {
    const work = () => Promise.reject(new Error('broken'))
    for (const source of [await given(ogg()), await given(mp3()), { url: `${files.url}/a` }]) {
      await expect(withPrepared(ctx, { ...NAMED, source, conversion: voice() }, work)).rejects.toThrow('broken')
    }
  })
})

describe.skipIf(!hasFfmpeg)('converting sound', () => {
  it.each([
    ['wav', []],
    ['mp3', []],
    ['m4a', ['-c:a', 'aac']],
    ['flac', []],
    ['ogg', ['-c:a', 'libopus', '-ac', '2', '-f', 'matroska']],
    ['opus', ['-c:a', 'libopus', '-ac', '2', '-f', 'ogg']],
  ])('turns %s into OGG with Opus and one channel', async (ending, options) => {
    const path = join(folder, `source.${ending}`)
    await makeWithFfmpeg(path, '-f', 'lavfi', '-i', 'sine=duration=0.5', '-ac', '2', ...options)
    const converted = await prepare({ path }, voice(true))
    expect([converted.voice, converted.file.path === path]).toEqual([true, false])
    expect(converted.bytes.toString('latin1', 28, 36)).toBe('OpusHead')
    expect(converted.told).toMatch(/Input #0, ogg/)
    expect(converted.told).toMatch(/Audio: opus, 48000 Hz, mono/)
    expect(converted.told).toMatch(/Duration: 00:00:00.5/)
  })

  it.each([
    ['a file without sound', png()],
    ['a list of other files', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')],
    ['a truncated file', oggOf('\x01vorbis').subarray(0, 40)],
  ])('refuses %s without revealing its path', async (_name, bytes) => {
    const problem = await prepare(await given(bytes), voice()).catch((error) => error)
    expect(problem).toMatchObject(refusal('not_convertible'))
    expect(problem.message).not.toContain(folder)
  })
})

describe('a sticker', () => {
  it('that already has the right format is used as it is', async () => {
    const source = await given(webp())
    expect(await prepare(source, sticker)).toMatchObject({ file: source, voice: false, bytes: webp() })
  })

  it('without ffmpeg is not supported', async () => {
    const source = await given(png())
    await withoutFfmpeg(async () => {
      await expect(prepare(source, sticker)).rejects.toMatchObject({ code: 'not_supported' })
    })
  })

  it('from too large a picture is refused', async () => {
    await expect(prepare(await given(padded(png(), 5 * 1_048_576 + 1)), sticker)).rejects.toMatchObject(
      refusal('too_big'),
    )
  })
})

/** WebP with the flag of an animation, which only its head tells. */
function animatedWebp(): Buffer {
  const head = Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\xff\x01\0\xff\x01\0', 'latin1')
  return padded(head, 150 * 1_024)
}

describe.skipIf(!hasFfmpeg)('converting a picture', () => {
  it('converts WebP that is too large for a picture that stands still, and keeps an animation of this size', async () => {
    const still = await given(padded(webp(), 150 * 1_024))
    const converted = await prepare(still, sticker)
    expect(converted.file).not.toEqual(still)
    expect(converted.bytes.length).toBeLessThan(100 * 1_024)
    const moving = await given(animatedWebp())
    expect(await prepare(moving, sticker)).toMatchObject({ file: moving })
  })

  it('does not wait for the conversions of another organization', async () => {
    let begun = 0
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const convertSlowly = () => {
      begun++
      return finished
    }
    const noise = Array.from({ length: 200 }, () => ctx.limits.conversions.run('two', convertSlowly))
    const { bytes } = await prepare(await given(png()), sticker)
    expect(bytes.toString('latin1', 8, 12)).toBe('WEBP')
    expect(begun).toBe(CONVERSIONS.ofOneKey)
    finish()
    await Promise.all(noise)
  })

  it.each([
    ['png', png],
    ['jpeg', jpeg],
    ['gif', gif],
  ])('turns %s into WebP of 512 x 512', async (_name, make) => {
    const { bytes } = await prepare(await given(make()), sticker)
    expect(bytes.toString('latin1', 8, 12)).toBe('WEBP')
    expect(await describeMedia((await given(bytes)).path)).toContain('512x512')
  })

  it('refuses a picture that unpacks to a gigabyte', async () => {
    await expect(prepare(await given(vastGif(9_000)), sticker)).rejects.toMatchObject({
      ...refusal('not_convertible'),
      message: expect.stringContaining('max pixel'),
    })
  })
})

/** A picture of few bytes with this width and height. */
function vastGif(side: number): Buffer {
  const file = gif()
  file.writeUInt16LE(side, 6)
  file.writeUInt16LE(side, 8)
  return file
}
