import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTranscriber, type Transcriber } from '../../src/transcription/client.js'
import {
  type Answering,
  bare,
  type HttpServer,
  hangUp,
  json,
  readForm,
  startHttpServer,
  type Taken,
} from '../support/http-server.js'

const bytes = Buffer.from('OggS and so on')

let answer: Answering
let server: HttpServer
let transcriber: Transcriber

beforeEach(async () => {
  server = await startHttpServer((request, response) => answer(request, response))
  transcriber = createTranscriber({ url: `${server.url}/v1/audio/transcriptions?v=2`, key: 'sk-1', model: 'whisper-1' })
})

afterEach(async () => {
  await transcriber.close()
  await server.close()
})

const running = new AbortController().signal

function transcribe(recording: object = {}, signal = running) {
  return transcriber.transcribe(
    { bytes: Readable.from([bytes]), size: bytes.length, filename: 'voice.ogg', mimeType: 'audio/ogg', ...recording },
    signal,
  )
}

describe('transcribing', () => {
  it('posts the recording as a form with a known length, and resolves to the text', async () => {
    answer = json(200, { text: 'Bom dia', duration: 3.2 })
    expect(await transcribe()).toEqual({ outcome: 'transcribed', text: 'Bom dia' })
    const [request] = server.taken as [Taken]
    expect(request).toMatchObject({ method: 'POST', path: '/v1/audio/transcriptions?v=2' })
    expect(request.headers).toMatchObject({
      authorization: 'Bearer sk-1',
      'content-length': String(request.body.length),
    })
    const { file, ...fields } = await readForm(request)
    expect(fields).toEqual({ model: 'whisper-1', response_format: 'json' })
    expect(file).toMatchObject({ name: 'voice.ogg', type: 'audio/ogg' })
    expect(Buffer.from(await (file as File).arrayBuffer())).toEqual(bytes)
  })

  it('works without a key', async () => {
    answer = json(200, { text: '' })
    const keyless = createTranscriber({ url: server.url, key: undefined, model: 'm' })
    const recording = {
      bytes: Readable.from([bytes]),
      size: bytes.length,
      filename: 'voice.ogg',
      mimeType: 'audio/ogg',
    }
    expect(await keyless.transcribe(recording, running)).toEqual({ outcome: 'transcribed', text: '' })
    expect(server.taken[0]?.headers.authorization).toBeUndefined()
    await keyless.close()
  })

  const failures: [string, Answering, { final: boolean; text: string }][] = [
    ['a refused file', json(400, { error: { message: 'too short' } }), { final: true, text: 'HTTP 400: too short' }],
    ['a bare 413', bare(413), { final: true, text: 'HTTP 413' }],
    ['a wrong key', json(401, {}), { final: false, text: 'HTTP 401' }],
    ['too many requests', bare(429), { final: false, text: 'HTTP 429' }],
    ['a broken service', bare(500), { final: false, text: 'HTTP 500' }],
    ['an answer without a text', json(200, { words: [] }), { final: false, text: 'HTTP 200 without a text' }],
    ['another service', bare(200), { final: false, text: 'HTTP 200 without a text' }],
  ]

  it.each(failures)('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await transcribe()).toEqual({ outcome: 'failed', ...expected })
  })

  it('reports a lost connection', async () => {
    answer = hangUp
    expect(await transcribe()).toMatchObject({ outcome: 'failed', final: false })
  })

  it('does not send more than 25 MB, and closes the recording', async () => {
    const recording = new Readable({ read() {} })
    expect(await transcribe({ bytes: recording, size: 25 * 1_048_576 + 1 })).toMatchObject({
      outcome: 'failed',
      final: true,
    })
    expect(server.taken).toEqual([])
    expect(recording.destroyed).toBe(true)
  })

  it('ends at once when it is aborted, and closes the recording', async () => {
    const stop = new AbortController()
    const recording = Readable.from([bytes])
    answer = () => stop.abort(new Error('stopping'))
    await expect(transcribe({ bytes: recording }, stop.signal)).rejects.toThrow('stopping')
    expect(recording.destroyed).toBe(true)
  })
})
