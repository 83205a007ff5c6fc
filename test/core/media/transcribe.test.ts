import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transcribeVoiceNote } from '../../../src/core/media/transcribe.js'
import { conversation } from '../../support/conversations.js'
import { type Answering, bare, json, readForm, startHttpServer, type Taken } from '../../support/http-server.js'
import { workOffLater } from '../../support/jobs.js'
import { aac, ogg } from '../../support/media.js'
import { fileMessage, receiveFile, startFileUpstream, storedBytes } from '../../support/received-files.js'
import { eventsOf } from '../../support/rows/events.js'
import { jobRows } from '../../support/rows/jobs.js'
import { useStarted } from '../../support/started.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '16505550001'

let answer: Answering
const upstream = useStarted(startFileUpstream)
const service = useStarted(() => startHttpServer((request, response) => answer(request, response)))
const world = useWorld(() => ({
  PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0`,
  PARLEY_TRANSCRIBE_URL: `${service.url}/v1/audio/transcriptions`,
  PARLEY_TRANSCRIBE_KEY: 'sk-1',
  PARLEY_TRANSCRIBE_MODEL: 'whisper-1',
}))
let organization: TestOrganization

beforeEach(async () => {
  upstream.files.set('1', ogg())
  answer = json(200, { text: ' Bom dia, tudo bem? ' })
  organization = await world.createOrganization()
})

afterEach(async () => {
  await world.reset()
  upstream.clear()
  service.taken.length = 0
})

const voiceNote = () => fileMessage(CUSTOMER, 'audio', { id: '1', mime_type: 'audio/ogg; codecs=opus', voice: true })

async function shown() {
  return (await conversation(world, organization, CUSTOMER)).body.messages[0]
}

describe('a voice note', () => {
  it('is transcribed', async () => {
    const id = await receiveFile(world, organization, voiceNote())
    expect(await shown()).toMatchObject({
      id,
      message: '',
      media_type: 'audio',
      media_url: expect.stringContaining('/media/'),
      voice_note_transcription: 'Bom dia, tudo bem?',
    })
    expect(service.taken).toMatchObject([
      { path: '/v1/audio/transcriptions', headers: { authorization: 'Bearer sk-1' } },
    ])
    const { file, model } = await readForm(service.taken[0] as Taken)
    expect(model).toBe('whisper-1')
    expect(file).toMatchObject({ name: 'voice.ogg', type: 'audio/ogg' })
    expect(Buffer.from(await (file as File).arrayBuffer())).toEqual(ogg())
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(1)
  })

  it('is sent with the extension of its own format', async () => {
    upstream.files.set('1', aac())
    await receiveFile(world, organization, voiceNote())
    expect((await readForm(service.taken[0] as Taken)).file).toMatchObject({ name: 'voice.aac', type: 'audio/aac' })
  })

  it.each([
    ['a\u0000b\ud800', 'a\ufffdb\ufffd'],
    ['😀'.repeat(20_001), '😀'.repeat(20_000)],
    [' ', ''],
  ])('gets a transcription that can be stored', async (text, expected) => {
    answer = json(200, { text })
    await receiveFile(world, organization, voiceNote())
    expect((await shown()).voice_note_transcription).toBe(expected)
  })

  it('is transcribed once', async () => {
    const id = await receiveFile(world, organization, voiceNote())
    const attempt = { number: 2, signal: new AbortController().signal }
    await transcribeVoiceNote(world.app.ctx, organization.id, id, attempt)
    expect(service.taken).toHaveLength(1)
  })

  it('waits while the transcription service is down, and is shown in the meantime', async () => {
    answer = bare(503)
    await receiveFile(world, organization, voiceNote())
    expect(await shown()).toMatchObject({
      media_url: expect.stringContaining('/media/'),
      voice_note_transcription: null,
      error: null,
    })
    answer = json(200, { text: 'Oi' })
    await workOffLater(world)
    expect(await shown()).toMatchObject({ voice_note_transcription: 'Oi' })
  })

  it('stays without a transcription after the last try', async () => {
    answer = bare(503)
    await receiveFile(world, organization, voiceNote())
    await workOffLater(world, 5)
    expect(await jobRows(world, { task: 'transcribe_voice_note' })).toEqual([])
    expect(await shown()).toMatchObject({ voice_note_transcription: null, error: null })
  })

  it('that the service refuses is sent once', async () => {
    answer = json(400, { error: { message: 'not audio' } })
    await receiveFile(world, organization, voiceNote())
    expect(service.taken).toHaveLength(1)
    expect(await jobRows(world, { task: 'transcribe_voice_note' })).toEqual([])
    expect(await shown()).toMatchObject({ voice_note_transcription: null, error: null })
  })

  it('that is erased before its job runs is not sent', async () => {
    answer = bare(503)
    const id = await receiveFile(world, organization, voiceNote())
    await world.request('DELETE', `/contact?chat_id=${CUSTOMER}`, { key: organization.key })
    await workOffLater(world)
    expect(service.taken).toHaveLength(1)
    expect(await storedBytes(world, organization, id)).toBeNull()
    expect(await jobRows(world, { task: 'transcribe_voice_note' })).toEqual([])
  })
})

describe('audio that is not a voice note', () => {
  it.each([
    ['audio', { voice: false }],
    ['audio', {}],
    ['audio', { voice: 'true' }],
    ['document', { voice: true }],
  ])('is not sent (%s %j)', async (type, payload) => {
    await receiveFile(world, organization, fileMessage(CUSTOMER, type, { id: '1', ...payload }))
    expect(service.taken).toEqual([])
    expect(await shown()).toMatchObject({ voice_note_transcription: null })
  })
})

describe('without a service', () => {
  it('voice notes stay unchanged', async () => {
    await world.app.work.transcriber?.close()
    world.app.work.transcriber = null
    await receiveFile(world, organization, voiceNote())
    expect(await jobRows(world, { task: 'transcribe_voice_note' })).toEqual([])
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/') })
  })
})
