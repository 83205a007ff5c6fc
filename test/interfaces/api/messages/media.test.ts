import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expireOutcomes } from '../../../../src/core/maintenance/maintenance.js'
import { MAX_UPLOADED_BYTES, MAX_UPLOADED_FILES } from '../../../../src/core/media/keep-uploaded-file.js'
import { formOf } from '../../../support/gateway-messages.js'
import {
  aac,
  amr,
  doc,
  docx,
  gif,
  jpeg,
  m4a,
  mp3,
  mp4,
  ogg,
  padded,
  pdf,
  png,
  webp,
  zip,
} from '../../../support/media.js'
import { storedBytes } from '../../../support/received-files.js'
import { mediaRows } from '../../../support/rows/media.js'
import { until } from '../../../support/until.js'
import { postMedia, uploadFile } from '../../../support/uploaded-files.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const MEBIBYTE = 1_048_576
const DAY_MS = 24 * 3_600_000
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const world = useWorld()
const organization = useOrganization(world)

/** The names of the files in the spool. */
const spooled = () => readdir(join(world.dataDir, 'spool')).catch(() => [])

describe('POST /media', () => {
  it.each([
    ['image', 'image/jpeg', jpeg()],
    ['image', 'image/png', png()],
    ['video', 'video/mp4', mp4()],
    ['audio', 'audio/mpeg', mp3()],
    ['audio', 'audio/aac', aac()],
    ['audio', 'audio/ogg', ogg()],
    ['sticker', 'image/webp', webp()],
    ['sticker', 'image/webp', padded(webp(), 600 * 1_024)],
    ['sticker', 'image/gif', gif()],
    ['audio', 'audio/mp4', m4a()],
    ['audio', 'audio/amr', amr()],
    ['document', 'application/pdf', pdf()],
    ['document', 'application/msword', doc()],
    ['document', DOCX, docx()],
  ])('keeps a file for a day: %s %s', async (media_type, mime_type, bytes) => {
    const { status, body } = await postMedia(world, organization, bytes, { headers: { 'content-type': 'text/plain' } })
    expect([status, body.success], JSON.stringify(body)).toEqual([201, true])
    const { id, created_at, expires_at } = body.media
    expect(body.media).toEqual({
      id: expect.any(String),
      media_type,
      mime_type,
      size: bytes.length,
      filename: null,
      created_at,
      expires_at,
    })
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(DAY_MS)
    expect((await storedBytes(world, organization, id))?.equals(bytes)).toBe(true)
    expect(await spooled()).toEqual([])
  })

  it('takes the part "file" of a form, and its name', async () => {
    const form = formOf({ note: 'ignored' }, { file: [pdf(), 'conta de luz ü.pdf'], other: [png(), 'b.png'] })
    const { status, body } = await postMedia(world, organization, form)
    expect([status, body.media.media_type, body.media.filename]).toEqual([201, 'document', 'conta de luz ü.pdf'])
    expect((await storedBytes(world, organization, body.media.id))?.equals(pdf())).toBe(true)
  })

  it.each([
    ['C:\\fakepath\\bill.pdf', 'bill.pdf'],
    ['../../etc/bill.pdf', 'bill.pdf'],
    ['bill\u202efdp.exe.pdf', 'billfdp.exe.pdf'],
    ['/', null],
    ['.pdf', null],
    ['', null],
  ])('shows the name %j as %j', async (filename, shown) => {
    const { body } = await postMedia(world, organization, pdf(), { filename })
    expect(body.media.filename).toBe(shown)
  })

  it('prefers the name in the query to that in the form', async () => {
    const form = formOf({}, { file: [pdf(), 'a.pdf'] })
    expect((await postMedia(world, organization, form, { filename: 'b.pdf' })).body.media.filename).toBe('b.pdf')
  })

  it('needs no Content-Type', async () => {
    expect((await postMedia(world, organization, png())).status).toBe(201)
  })

  it.each([
    ['an empty one', Buffer.alloc(0), 'empty', 'it is empty'],
    ['a text', Buffer.from('{"media_url":"https://example.com"}'), 'wrong_type', 'its content is of no known type'],
    ['a ZIP', zip({ 'a.txt': 'a' }), 'wrong_type', 'its content is application/zip, and messages take JPEG or PNG'],
    ['a big image', padded(jpeg(), 5 * MEBIBYTE + 1), 'too_big', 'image messages take 5242880 at most'],
    ['a big video', padded(mp4(), 16 * MEBIBYTE + 1), 'too_big', 'video messages take 16777216 at most'],
    ['a file of more than 102 MB', padded(pdf(), 102 * MEBIBYTE), 'too_big', 'files of at most 100 MB'],
  ])('refuses %s, and keeps nothing', async (_what, bytes, reason, text) => {
    const kept = await mediaRows(world, organization)
    const { status, body } = await postMedia(world, organization, bytes)
    expect([status, body.error, body.reason]).toEqual([400, 'Invalid media', reason])
    expect(body.message).toContain(text)
    expect(await mediaRows(world, organization)).toEqual(kept)
    expect(await spooled()).toEqual([])
  })

  it('refuses a stream that turns out too big', async () => {
    const { status, body } = await postMedia(world, organization, new Blob([padded(pdf(), 101 * MEBIBYTE)]).stream())
    expect([status, body.reason]).toEqual([400, 'too_big'])
  })

  it('refuses a form without a file, and one with two', async () => {
    const none = await postMedia(world, organization, formOf({ file: 'text' }))
    expect([none.status, none.body.error]).toEqual([400, 'Missing required field'])
    expect(none.body.message).toMatch(/^file is required/)
    const two = formOf({}, { file: [png(), 'a.png'] })
    two.append('file', new Blob([png()]), 'b.png')
    expect((await postMedia(world, organization, two)).body.error).toBe('Invalid field')
    expect(await spooled()).toEqual([])
  })

  it('refuses compressed bodies', async () => {
    const { status } = await postMedia(world, organization, png(), { headers: { 'content-encoding': 'gzip' } })
    expect(status).toBe(415)
  })

  it('keeps nothing of an upload that breaks off', async () => {
    const kept = await mediaRows(world, organization)
    const { hostname, port } = new URL(world.app.url)
    const headers = { authorization: `Bearer ${organization.key}`, 'content-length': 1_000_000 }
    const client = request({ hostname, port, path: '/media', method: 'POST', headers }).on('error', () => undefined)
    client.write(padded(pdf(), 100_000))
    await until(async () => (await spooled()).length > 0)
    client.destroy()
    await until(async () => (await spooled()).length === 0)
    expect(await mediaRows(world, organization)).toEqual(kept)
  })

  it('answers once per Idempotency-Key, and other bytes or another name count as another file', async () => {
    const headers = { 'idempotency-key': 'upload-1' }
    const first = await postMedia(world, organization, png(), { headers })
    const again = await postMedia(world, organization, png(), { headers })
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await postMedia(world, organization, jpeg(), { headers })).status).toBe(422)
    expect((await postMedia(world, organization, png(), { headers, filename: 'a.png' })).status).toBe(422)
  })

  it('removes the bytes of a file a day later', async () => {
    const id = await uploadFile(world, organization, png())
    world.advance(DAY_MS - 60_000)
    await expireOutcomes(world.app.ctx)
    expect(await storedBytes(world, organization, id)).not.toBeNull()
    world.advance(60_000)
    await expireOutcomes(world.app.ctx)
    expect(await storedBytes(world, organization, id)).toBeNull()
    expect((await mediaRows(world, organization)).map((row) => row.id)).not.toContain(id)
  })
})

describe('the uploaded files of an organization', () => {
  /** Rows of uploaded files whose bytes do not exist. */
  const fill = (owner: { id: string }, count: number, size: number) =>
    world.database.pool.query(
      `INSERT INTO uploaded_files (organization_id, id, mime_type, size, created_at, expires_at)
       SELECT $1, gen_random_uuid(), 'image/png', $3, $4, $4::timestamptz + interval '1 day' FROM generate_series(1, $2)`,
      [owner.id, count, size, world.now()],
    )

  it('have a maximum number, until they expire', async () => {
    const owner = await world.createOrganization()
    await fill(owner, MAX_UPLOADED_FILES, 1)
    const refused = await postMedia(world, owner, png())
    expect([refused.status, refused.body.error]).toEqual([409, 'Too many files'])
    expect(refused.body.message).toBe(
      'The organization has 10000 uploaded files, and may have 10000: each is removed 24 hours after its upload',
    )
    expect((await postMedia(world, organization, png())).status).toBe(201)
    world.advance(DAY_MS)
    expect((await postMedia(world, owner, png())).status).toBe(201)
  })

  it('have a maximum size together, which parallel uploads cannot exceed', async () => {
    const owner = await world.createOrganization()
    const size = padded(png(), 2_000).length
    await fill(owner, 1, MAX_UPLOADED_BYTES - 2 * size)
    const answers = await Promise.all(Array.from({ length: 6 }, () => postMedia(world, owner, padded(png(), 2_000))))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    expect(await mediaRows(world, owner)).toHaveLength(2)
  })
})
