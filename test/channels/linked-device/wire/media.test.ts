import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { downloadDeviceFile } from '../../../../src/channels/linked-device/wire/media.js'
import { createScriptedLibrary } from '../scripted-library.js'

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'device-file-'))
  path = join(folder, 'file')
})
afterEach(() => rm(folder, { recursive: true }))

const LIMITS = { maxBytes: 1_000, timeoutMs: 60_000 }
const image = (fields: object) => ({
  imageMessage: { mediaKey: 'AQI=', directPath: '/v/t62', ...fields },
})
const hash = (text: string) => createHash('sha256').update(text).digest('base64')

describe('the file of a message', () => {
  it('is written decrypted, readable by this user only', async () => {
    const { library } = createScriptedLibrary()
    const message = { ephemeralMessage: { message: image({ fileSha256: hash('hello') }) } }
    expect(await downloadDeviceFile(library, message, path, LIMITS)).toEqual({ outcome: 'downloaded', size: 5 })
    expect(await readFile(path, 'utf8')).toBe('hello')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['no file', { conversation: 'x' }, 'bad_url'],
    ['an address of the sender', image({ directPath: '@evil.example/x', url: 'https://evil.example/x' }), 'bad_url'],
    ['a host next to the path', image({ directPath: '//evil.example/x' }), 'bad_url'],
    ['no key', image({ mediaKey: '' }), 'bad_url'],
    ['another content', image({ fileSha256: hash('other') }), 'broken'],
  ])('is rejected with %s', async (_, message, reason) => {
    const downloaded = await downloadDeviceFile(createScriptedLibrary().library, message, path, LIMITS)
    expect(downloaded).toMatchObject({ outcome: 'failed', reason })
    expect(existsSync(path)).toBe(false)
  })

  it('fails with the answer of the server, if it is too large, and if it is empty', async () => {
    const { library, serveFile } = createScriptedLibrary()
    const download = (maxBytes = 1_000) => downloadDeviceFile(library, image({}), path, { ...LIMITS, maxBytes })
    expect(await download(4)).toMatchObject({ reason: 'too_big' })
    serveFile(Buffer.alloc(0))
    expect(await download()).toMatchObject({ reason: 'empty' })
    serveFile(Object.assign(new Error('gone'), { output: { statusCode: 410 } }))
    expect(await download()).toMatchObject({ reason: 'status', status: 410 })
    serveFile(new TypeError('fetch failed'))
    expect(await download()).toMatchObject({ reason: 'unreachable' })
    expect(existsSync(path)).toBe(false)
  })
})
