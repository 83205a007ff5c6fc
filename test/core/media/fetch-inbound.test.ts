import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchInboundMedia } from '../../../src/core/media/fetch-inbound.js'
import { readTrace } from '../../../src/core/messages/trace/read-trace.js'
import { startJobRunner } from '../../../src/jobs/runner.js'
import { createTasks } from '../../../src/jobs/tasks.js'
import { blobKey } from '../../../src/model/messages/media.js'
import { insertMedia } from '../../../src/storage/messages/media.js'
import { post, receive, receiveMessages, textMessage } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { jpeg, mp4, ogg, pdf, webp } from '../../support/media.js'
import {
  answerJson,
  fileMessage,
  receiveFile,
  type Step,
  startFileUpstream,
  storedBytes,
} from '../../support/received-files.js'
import { eventsOf } from '../../support/rows/events.js'
import { jobRows } from '../../support/rows/jobs.js'
import { mediaRows } from '../../support/rows/media.js'
import { messageIdOf } from '../../support/rows/messages.js'
import { useStarted } from '../../support/started.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '16505550001'
const running = new AbortController().signal

const upstream = useStarted(startFileUpstream)
const world = useWorld(() => ({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
let organization: TestOrganization

beforeEach(async () => {
  organization = await createOrganization()
  upstream.files.set('1', jpeg())
})

/** An organization whose templates have already been fetched. */
async function createOrganization(): Promise<TestOrganization> {
  const created = await world.createOrganization()
  await world.drain()
  upstream.taken.length = 0
  return created
}

afterEach(async () => {
  await world.reset()
  upstream.clear()
})

const busy: Step = (response) => answerJson(response, 500, { error: { code: 131016, message: 'busy' } })
const image = () => fileMessage(CUSTOMER, 'image', { id: '1', mime_type: 'image/jpeg', caption: 'Look' })

async function shown(of = organization) {
  return (await conversation(world, of, CUSTOMER)).body.messages[0]
}

/** The message.received events. */
async function received(of = organization) {
  return (await eventsOf(world, of, 'message.received')).map((event) => event.data)
}

describe('a message with a file', () => {
  const kinds: [string, object, Buffer, { media_type: string; mime_type: string; filename: string | null }][] = [
    ['image', {}, jpeg(), { media_type: 'image', mime_type: 'image/jpeg', filename: null }],
    ['video', {}, mp4(), { media_type: 'video', mime_type: 'video/mp4', filename: null }],
    ['audio', { voice: false }, ogg(), { media_type: 'audio', mime_type: 'audio/ogg', filename: null }],
    [
      'document',
      { filename: 'bill.pdf' },
      pdf(),
      { media_type: 'document', mime_type: 'application/pdf', filename: 'bill.pdf' },
    ],
    ['sticker', { filename: 'no.webp' }, webp(), { media_type: 'image', mime_type: 'image/webp', filename: null }],
  ]

  it.each(kinds)('of the kind %s shows its stored file', async (type, payload, file, expected) => {
    upstream.files.set('77', file)
    const id = await receiveFile(world, organization, fileMessage(CUSTOMER, type, { id: '77', ...payload }))
    const { media_type, ...row } = expected
    expect(await shown()).toMatchObject({
      id,
      message_type: type,
      media_type,
      media_url: expect.stringContaining(`/media/`),
      message_status: 'delivered',
      error: null,
      voice_note_transcription: null,
    })
    expect(await mediaRows(world)).toEqual([
      { organization_id: organization.id, id, message_id: id, size: file.length, ...row },
    ])
    expect(await storedBytes(world, organization, id)).toEqual(file)
    expect(await jobRows(world, { task: 'fetch_media' })).toEqual([])
  })

  it('raises one event, with its file', async () => {
    const id = await receiveFile(world, organization, image())
    expect(await received()).toMatchObject([
      {
        message: { id, text: 'Look', media_id: id, media_expires_at: expect.stringContaining('2026-06-15T15:06:40') },
        contact: { chat_id: CUSTOMER },
      },
    ])
  })

  it('may carry the latest possible timestamp', async () => {
    await receiveFile(world, organization, { ...image(), timestamp: '253402300799' })
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/') })
    expect(await received()).toHaveLength(1)
  })

  it('is fetched once, however often its callback is repeated', async () => {
    const message = image()
    await receiveMessages(world, organization, message, message)
    await receiveMessages(world, organization, message)
    expect(upstream.taken).toHaveLength(2)
    expect(await received()).toHaveLength(1)
  })

  it.each([
    ['image', {}],
    ['image', { id: '' }],
    ['image', { id: 7 }],
    ['image', null],
    ['audio', { id: 'x'.repeat(513) }],
    ['hologram', { id: '1' }],
  ])('without a file id (%s %j) raises its event at once', async (type, payload) => {
    await receiveFile(world, organization, fileMessage(CUSTOMER, type, payload as object))
    expect(upstream.taken).toEqual([])
    expect(await received()).toMatchObject([{ message: { media_id: null } }])
  })
})

describe('the type of a file', () => {
  const typeOf = async (file: Buffer, mime_type: unknown) => {
    upstream.files.set('77', file)
    await receiveFile(world, organization, fileMessage(CUSTOMER, 'document', { id: '77', mime_type }))
    return (await mediaRows(world)).map((row) => row.mime_type)
  }

  it('comes from its content, not from the declared type', async () => {
    expect(await typeOf(pdf(), 'image/png')).toEqual(['application/pdf'])
  })

  it.each([
    ['text/csv; charset=utf-8', 'text/csv'],
    ['Text/Plain', 'text/plain'],
    ['x', 'application/octet-stream'],
    ['text/html\r\nx: y', 'application/octet-stream'],
    [null, 'application/octet-stream'],
  ])('is the declared one (%j) if the content is not conclusive', async (declared, expected) => {
    expect(await typeOf(Buffer.from('a;b;c'), declared)).toEqual([expected])
  })
})

describe('the name of a document', () => {
  it.each([
    ['Relatório 2025 – “ação” 📄.pdf', 'Relatório 2025 – “ação” 📄.pdf'],
    ['../../etc/passwd\r\nx', '../../etc/passwd\r\nx'],
    ['a\u0000b\ud800.pdf', 'a\ufffdb\ufffd.pdf'],
    ['📄'.repeat(300), '📄'.repeat(240)],
    ['', null],
    [{ name: 'x' }, null],
  ])('is changed from %j to %j', async (filename, expected) => {
    await receiveFile(world, organization, fileMessage(CUSTOMER, 'document', { id: '1', filename }))
    expect(await mediaRows(world)).toMatchObject([{ filename: expected }])
  })
})

describe('a file that is not available at once', () => {
  const transient: [string, () => void][] = [
    ['the upstream is busy', () => upstream.onFind.push(busy)],
    ['the upstream hangs up', () => upstream.onFind.push((response) => void response.socket?.destroy())],
    [
      'its address is private, which the operator can put right',
      () => upstream.onFind.push((response) => answerJson(response, 200, { url: 'http://169.254.169.254/x' })),
    ],
    ['its address has expired', () => upstream.onDownload.push((response) => void response.writeHead(404).end())],
    [
      'the download breaks off',
      () =>
        upstream.onDownload.push((response) => {
          response.writeHead(200, { 'content-length': '1000' })
          response.write('only this', () => response.socket?.destroy())
        }),
    ],
  ]

  it.each(transient)('is fetched later (%s), and raises one event', async (_reason, fail) => {
    fail()
    const id = await receiveFile(world, organization, image())
    expect(await shown()).toMatchObject({ id, message: 'Look', media_type: 'image', media_url: null, error: null })
    expect(await received()).toMatchObject([{ message: { id, media_id: null } }])
    expect(await jobRows(world, { task: 'fetch_media' })).toMatchObject([{ attempts: 1 }])
    await workOffLater(world)
    expect(await shown()).toMatchObject({ id, media_url: expect.stringContaining('/media/'), error: null })
    expect(await storedBytes(world, organization, id)).toEqual(jpeg())
    expect(await received()).toHaveLength(1)
  })

  it('is given up after the last try, and the message stays', async () => {
    upstream.onFind.push(busy, busy)
    const id = await receiveFile(world, organization, image())
    await workOffLater(world, 11)
    expect(await shown()).toMatchObject({
      id,
      message: 'Look',
      message_status: 'delivered',
      media_type: 'image',
      media_url: null,
      error: { code: 'media_unavailable', text: 'The file could not be fetched from WhatsApp: busy' },
    })
    expect(await received()).toHaveLength(1)
    expect(await jobRows(world, { task: 'fetch_media' })).toEqual([])
    const { entries } = await readTrace(world.app.work, organization.id, id)
    const told = entries.flatMap(({ kind, outcome, event_type: type }) =>
      kind === 'file_fetched' || kind === 'event_raised' ? [outcome ?? type] : [],
    )
    expect(told.sort()).toEqual(['message.received', 'missing', 'retried'])
  })

  it('is retried if the service stopped during the last try', async () => {
    const message = image()
    upstream.onFind.push(busy)
    const id = await receiveFile(world, organization, message)
    const stop = new AbortController()
    upstream.onFind.push(() => stop.abort(new Error('stopping')))
    const lastTry = fetchInboundMedia(world.app.work, organization.id, id, { number: 12, signal: stop.signal })
    await expect(lastTry).rejects.toThrow('stopping')
    expect(await shown()).toMatchObject({ media_url: null, error: null })
    await workOffLater(world, 12)
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/'), error: null })
  })

  it('still raises its event after a try that the stop of the service interrupted', async () => {
    const message = image()
    await post(world, organization, { messages: [message] })
    const stop = new AbortController()
    stop.abort(new Error('stopping'))
    const { work } = world.app
    upstream.onFind.push(async () => {
      const id = await messageIdOf(world, String(message.id))
      const cutShort = fetchInboundMedia(work, organization.id, id, { number: 1, signal: stop.signal })
      await expect(cutShort).rejects.toThrow('stopping')
      expect(await received()).toEqual([])
    })
    await world.drain()
    expect(await received()).toMatchObject([{ message: { media_id: expect.any(String) } }])
  })

  it('returns to the queue if the service stops during the download', async () => {
    const { work: ctx } = world.app
    let hasBegun = false
    let release = () => {}
    upstream.onDownload.push(() => {
      hasBegun = true
      return new Promise<void>((resolve) => {
        release = resolve
      })
    })
    const runner = startJobRunner(ctx, createTasks(ctx))
    const message = image()
    await post(world, organization, { messages: [message] })
    await world.app.callbacks.drain()
    await expect.poll(() => hasBegun).toBe(true)
    await runner.stop()
    expect(await received()).toEqual([])
    expect(await jobRows(world, { task: 'fetch_media' })).toMatchObject([{ attempts: 0, process_id: null }])
    release()
    await workOffLater(world)
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/') })
    expect(await received()).toHaveLength(1)
  })

  it('is fetched once the organization is connected again', async () => {
    await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' })
    await receiveFile(world, organization, image())
    expect(upstream.taken).toEqual([])
    expect(await received()).toMatchObject([{ message: { media_id: null } }])
    await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'upstream' })
    await workOffLater(world)
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/') })
    expect(await received()).toHaveLength(1)
  })

  it('raises its event even if the credentials are gone', async () => {
    const message = image()
    await post(world, organization, { messages: [message] })
    await world.database.pool.query('DELETE FROM upstream_settings')
    await world.drain()
    expect(await received()).toMatchObject([{ message: { media_id: null, text: 'Look' } }])
  })

  it('raises its event even if its bytes cannot be stored', async () => {
    const { blobs } = world.app.work
    world.app.work.blobs = { ...blobs, put: () => Promise.reject(new Error('the disk is full')) }
    await receiveFile(world, organization, image())
    expect(await received()).toMatchObject([{ message: { media_id: null } }])
    world.app.work.blobs = blobs
    await workOffLater(world)
    expect(await shown()).toMatchObject({ media_url: expect.stringContaining('/media/') })
    expect(await received()).toHaveLength(1)
  })
})

describe('an unavailable file', () => {
  const reasons: [string, () => void, string][] = [
    ['it is gone', () => upstream.files.delete('1'), 'no such object'],
    ['it is empty', () => upstream.files.set('1', Buffer.alloc(0)), 'it is empty'],
    [
      'it is too big',
      () =>
        upstream.onDownload.push(
          (response) => void response.writeHead(200, { 'content-length': '104857601' }).write('x'),
        ),
      '100 MB',
    ],
    [
      'its address is none',
      () => upstream.onFind.push((response) => answerJson(response, 200, { url: 'file:///etc/passwd' })),
      'http',
    ],
  ]

  it.each(reasons)('is given up at once (%s), and its event is raised', async (_reason, prepare, reason) => {
    prepare()
    const id = await receiveFile(world, organization, image())
    const error = { code: 'media_unavailable', text: expect.stringContaining(reason) }
    expect(await shown()).toMatchObject({
      id,
      message: 'Look',
      message_status: 'delivered',
      media_type: 'image',
      media_url: null,
      error,
    })
    expect(await received()).toMatchObject([{ message: { id, media_id: null, error } }])
    expect(await jobRows(world, { task: 'fetch_media' })).toEqual([])
    expect(await mediaRows(world)).toEqual([])
    await fetchInboundMedia(world.app.work, organization.id, id, { number: 2, signal: running })
    expect(await received()).toHaveLength(1)
  })
})

describe('a repeated job', () => {
  it('changes nothing if the file is already stored', async () => {
    const id = await receiveFile(world, organization, image())
    const before = upstream.taken.length
    await fetchInboundMedia(world.app.work, organization.id, id, { number: 2, signal: running })
    expect(upstream.taken).toHaveLength(before)
    expect(await received()).toHaveLength(1)
    expect(await mediaRows(world)).toHaveLength(1)
    expect(await storedBytes(world, organization, id)).toEqual(jpeg())
  })

  it('completes the work of a killed process', async () => {
    const message = image()
    upstream.onFind.push(async (_response) => {
      const id = await messageIdOf(world, String(message.id))
      // The state when the process was killed: the row, and the bytes.
      await insertMedia(world.database, organization.id, {
        id,
        mimeType: 'x/y',
        size: 3,
        filename: null,
        messageId: id,
      })
      await world.app.work.spool.use(async (path) => {
        await world.app.work.fetcher.download(`${upstream.url}/download/1`, path, { maxBytes: 1e6, timeoutMs: 5_000 })
        await world.app.work.blobs.put(blobKey(organization.id, id), path, 'x/y')
      })
    })
    const id = await receiveFile(world, organization, message)
    expect(await mediaRows(world)).toMatchObject([{ id, mime_type: 'image/jpeg', size: jpeg().length }])
    expect(await storedBytes(world, organization, id)).toEqual(jpeg())
    expect(await received()).toHaveLength(1)
  })

  it('running twice at the same time leaves one file and one event', async () => {
    const message = image()
    const { work } = world.app
    upstream.onDownload.push(async () => {
      const id = await messageIdOf(world, String(message.id))
      await fetchInboundMedia(work, organization.id, id, { number: 2, signal: running })
    })
    const id = await receiveFile(world, organization, message)
    expect(await received()).toHaveLength(1)
    expect(await mediaRows(world)).toHaveLength(1)
    expect(await storedBytes(world, organization, id)).toEqual(jpeg())
  })
})

describe('erasing a contact', () => {
  const erase = () => world.request('DELETE', `/contact?chat_id=${CUSTOMER}`, { key: organization.key })

  it('deletes its files', async () => {
    const id = await receiveFile(world, organization, image())
    const [stranger, strangers] = ['16505550002', fileMessage('16505550002', 'image', { id: '1' })]
    const kept = await receiveFile(world, organization, strangers)
    expect((await erase()).status).toBe(200)
    expect(await mediaRows(world)).toMatchObject([{ id: kept }])
    await world.drain()
    expect(await storedBytes(world, organization, id)).toBeNull()
    expect(await storedBytes(world, organization, kept)).toEqual(jpeg())
    expect((await conversation(world, organization, stranger)).body.count).toBe(1)
  })

  it('deletes files that were stored only in part', async () => {
    const { blobs } = world.app.work
    world.app.work.blobs = {
      ...blobs,
      put: async (...file) => {
        await blobs.put(...file)
        throw new Error('the connection broke')
      },
    }
    const id = await receiveFile(world, organization, image())
    await workOffLater(world, 11)
    expect(await shown()).toMatchObject({ error: { code: 'media_unavailable' } })
    expect(await storedBytes(world, organization, id)).toEqual(jpeg())
    world.app.work.blobs = blobs
    await erase()
    expect(await mediaRows(world)).toEqual([])
    await world.drain()
    expect(await storedBytes(world, organization, id)).toBeNull()
  })

  it('during a download leaves no file behind', async () => {
    const message = image()
    let id = ''
    upstream.onDownload.push(async () => {
      id = await messageIdOf(world, String(message.id))
      expect((await erase()).status).toBe(200)
    })
    await receiveMessages(world, organization, message)
    expect(id).not.toBe('')
    expect(await mediaRows(world)).toEqual([])
    expect(await storedBytes(world, organization, id)).toBeNull()
    expect(await received()).toEqual([])
    expect(await jobRows(world, { task: 'fetch_media' })).toEqual([])
  })

  it('after a process was killed halfway leaves no file behind', async () => {
    upstream.onFind.push(busy)
    const id = await receiveFile(world, organization, image())
    await insertMedia(world.database, organization.id, { id, mimeType: 'x/y', size: 3, filename: null, messageId: id })
    await world.app.work.spool.use(async (path) => {
      await world.app.work.fetcher.download(`${upstream.url}/download/1`, path, { maxBytes: 1e6, timeoutMs: 5_000 })
      await world.app.work.blobs.put(blobKey(organization.id, id), path, 'x/y')
    })
    expect((await erase()).status).toBe(200)
    await workOffLater(world)
    expect(await mediaRows(world)).toEqual([])
    expect(await storedBytes(world, organization, id)).toBeNull()
  })
})

describe('merging two contacts', () => {
  it('keeps their files', async () => {
    upstream.onFind.push(busy)
    await receive(world, organization, {
      messages: [{ ...image(), from: undefined, from_user_id: 'US.1' }],
    })
    await receiveMessages(world, organization, image())
    await receive(world, organization, {
      messages: [textMessage(CUSTOMER, 'me', { from_user_id: 'US.1' })],
    })
    await workOffLater(world)
    const { body } = await conversation(world, organization, CUSTOMER)
    expect(body.messages.map((message: { media_url: unknown }) => message.media_url)).toEqual([
      expect.stringContaining('/media/'),
      expect.stringContaining('/media/'),
      null,
    ])
    expect(await received()).toHaveLength(3)
  })
})

describe('organizations', () => {
  it('fetch with their own token and keep their own file, even under the same id', async () => {
    const other = await createOrganization()
    const mine = await receiveFile(world, organization, image())
    upstream.files.set('1', pdf())
    const theirs = await receiveFile(world, other, image())
    expect(await storedBytes(world, organization, mine)).toEqual(jpeg())
    expect(await storedBytes(world, other, theirs)).toEqual(pdf())
    expect(await storedBytes(world, other, mine)).toBeNull()
    expect(await received(other)).toHaveLength(1)
    const asked = upstream.taken.map(({ path, headers }) => [path.split('?')[1] ?? 'file', headers.authorization])
    expect(new Set(asked.slice(0, 2).map(([, token]) => token)).size).toBe(1)
    const numberOf = (query = '') => new URLSearchParams(query).get('phone_number_id')
    expect(numberOf(asked[0]?.[0])).toBe(organization.phoneNumberId)
    expect(numberOf(asked[2]?.[0])).toBe(other.phoneNumberId)
    expect(asked[2]?.[1]).not.toBe(asked[0]?.[1])
    expect(asked[3]?.[1]).toBe(asked[2]?.[1])
  })

  it('that are deleted lose their files, and no others', async () => {
    const other = await createOrganization()
    const mine = await receiveFile(world, organization, image())
    const theirs = await receiveFile(world, other, image())
    await world.admin('DELETE', `/organizations/${organization.id}`)
    await workOffLater(world)
    expect(await storedBytes(world, organization, mine)).toBeNull()
    expect(await storedBytes(world, other, theirs)).toEqual(jpeg())
    expect(await mediaRows(world)).toMatchObject([{ id: theirs }])
  })
})
