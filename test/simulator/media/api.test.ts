import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MediaLinks } from '../../../simulator/media/links.js'
import {
  accessToken,
  call,
  errorOf,
  formOf,
  phoneNumberId,
  postForm,
  registration,
  startWorld,
  useWorld,
} from '../../support/simulator.js'

/** The folder in which the simulator creates its own. */
const temporary = mkdtempSync(join(tmpdir(), 'simulator-test-'))
const formerTemporary = process.env.TMPDIR

beforeAll(() => {
  process.env.TMPDIR = temporary
})

afterAll(() => {
  if (formerTemporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = formerTemporary
  rmSync(temporary, { recursive: true })
})

const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/reset')
  await world.control('POST', '/settings', { delay_ms: 1 })
  world.receiver.taken.length = 0
})

const kilobyte = 1_024
const megabyte = 1_024 * kilobyte
const picture = new Uint8Array(70_000).map((_, index) => index % 251)

const uploadUrl = () => `${world.simulator.upstreamUrl}/${phoneNumberId}/media`
const describeMedium = (id: string, token: string | null = accessToken, query = '') =>
  call('GET', `${world.simulator.upstreamUrl}/${id}${query}`, undefined, token)

/** All files of the simulator. */
const keptFiles = () =>
  readdirSync(temporary, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

async function urlOf(id: string): Promise<string> {
  return String((await describeMedium(id)).body.url)
}

async function download(url: string, token: string | null = accessToken) {
  const response = await fetch(url, token === null ? {} : { headers: { authorization: `Bearer ${token}` } })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), bytes }
}

function sha256(bytes: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(bytes).digest(encoding)
}

describe('an upload', () => {
  it('returns an id, and is downloaded byte for byte', async () => {
    const { status, body } = await world.upload(picture, 'image/png')
    expect([status, body]).toEqual([200, { id: expect.stringMatching(/^\d{10,20}$/) }])
    const { body: medium } = await describeMedium(String(body.id))
    expect(medium).toEqual({
      messaging_product: 'whatsapp',
      id: body.id,
      mime_type: 'image/png',
      file_size: picture.length,
      sha256: sha256(picture, 'hex'),
      url: expect.stringMatching(new RegExp(`^${world.simulator.url}/`)),
    })
    const { status: found, type, bytes } = await download(String(medium.url))
    expect([found, type, bytes.equals(picture)]).toEqual([200, 'image/png', true])
  })

  it('is listed, for its number and in total', async () => {
    const id = await world.uploaded(picture, 'image/png')
    const other = await world.upload(picture, 'video/mp4', { number: '999' })
    const shown = {
      id,
      phone_number_id: phoneNumberId,
      mime_type: 'image/png',
      file_size: picture.length,
      sha256: sha256(picture, 'hex'),
      uploaded_at: expect.stringMatching(/^\d{4}-.*Z$/),
    }
    const one = await world.control('GET', `/media?phone_number_id=${phoneNumberId}`)
    expect(one.body).toEqual({ success: true, total: 1, media: [shown] })
    const all = await world.control('GET', '/media')
    expect(all.body).toMatchObject({ total: 2, media: [{ id }, { id: other.body.id, phone_number_id: '999' }] })
  })

  it.each([
    ['an image', 'image/jpeg', 5 * megabyte],
    ['a video', 'video/3gpp', 16 * megabyte],
    ['audio', 'audio/amr', 16 * megabyte],
    ['a document', 'text/plain', 100 * megabyte],
    ['a sticker', 'image/webp', 100 * kilobyte],
  ])('of %s is accepted up to its limit and refused beyond', async (_what, mimeType, limit) => {
    expect((await world.upload(new Uint8Array(limit), mimeType)).status).toBe(200)
    const { status, body } = await world.upload(new Uint8Array(limit + 1), mimeType)
    expect([status, errorOf(body).code]).toEqual([400, 131053])
    expect(errorOf(body).error_data?.details).toBe(
      `The file has ${limit + 1} bytes. Max size for ${mimeType} is ${limit}.`,
    )
    expect(keptFiles()).toHaveLength(1)
  })

  it('of an animated sticker may have 500 KB', async () => {
    const moving = (size: number) => {
      const bytes = new Uint8Array(size)
      bytes.set(Buffer.from('RIFF....WEBPVP8X....\x02', 'latin1'))
      return bytes
    }
    expect((await world.upload(moving(500 * kilobyte), 'image/webp')).status).toBe(200)
    expect((await world.upload(moving(500 * kilobyte + 1), 'image/webp')).status).toBe(400)
  })

  it('uses the type of the part, not of the field', async () => {
    const form = formOf(picture, 'application/octet-stream')
    form.set('type', 'image/png')
    const { status, body } = await postForm(uploadUrl(), form, accessToken)
    expect([status, errorOf(body).code]).toEqual([400, 100])
    expect(errorOf(body).message).toMatch(
      /^\(#100\) Param file must be a file with one of the following types: audio\/aac, audio\/mp4, .*\. Received file of type 'application\/octet-stream'\.$/,
    )
    const late = new FormData()
    late.set('file', new Blob([picture], { type: 'audio/ogg; codecs=opus' }), 'a.ogg')
    late.set('messaging_product', 'whatsapp')
    expect((await postForm(uploadUrl(), late, accessToken)).status).toBe(200)
  })

  it.each<[string, (form: FormData) => void, string]>([
    ['no product', (form) => form.delete('messaging_product'), 'The parameter messaging_product is required.'],
    ['another product', (form) => form.set('messaging_product', 'sms'), 'must be one of {WHATSAPP} - got "sms"'],
    ['no file', (form) => form.delete('file'), 'The parameter file is required.'],
    ['a text as file', (form) => form.set('file', 'text'), 'The parameter file is required.'],
  ])('is refused with %s', async (_what, change, text) => {
    const form = formOf(picture, 'image/png')
    change(form)
    const { status, body } = await postForm(uploadUrl(), form, accessToken)
    expect([status, errorOf(body).code]).toEqual([400, 100])
    expect(errorOf(body).message).toContain(text)
    expect(keptFiles()).toEqual([])
  })

  it('is refused with an empty file', async () => {
    const { status, body } = await world.upload(new Uint8Array(0), 'image/png')
    expect([status, errorOf(body).code]).toEqual([400, 131053])
    expect(keptFiles()).toEqual([])
  })

  const part = (name: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\ncontent-type: image/png\r\n\r\nbytes`

  it.each([
    ['application/json', '{}'],
    ['multipart/form-data', 'without a boundary'],
    ['multipart/form-data; boundary=b', 'without a part'],
    ['multipart/form-data; boundary=b', part('file')],
    ['multipart/form-data; boundary=b', part('other')],
    ['multipart/form-data; boundary=b', `${part('file')}\r\n${part('other')}`],
    ['multipart/form-data; boundary=b', `${part('file')}\r\n--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n`],
  ])('is refused as %s if it is %j', async (type, body) => {
    const headers = { 'content-type': type, authorization: `Bearer ${accessToken}` }
    const response = await fetch(uploadUrl(), { method: 'POST', headers, body })
    const answer = (await response.json()) as Record<string, unknown>
    expect([response.status, errorOf(answer).code]).toEqual([400, 100])
    expect(keptFiles()).toEqual([])
  })

  it.each<[string, string | null, number]>([
    ['no token', null, 104],
    ['the token of another', 'wrong', 190],
  ])('is refused with %s', async (_what, token, code) => {
    const { status, body } = await world.upload(new Uint8Array(2 * megabyte), 'image/png', { token })
    expect([status, errorOf(body).code]).toEqual([401, code])
  })

  it('that breaks off leaves nothing', async () => {
    const { port } = new URL(world.simulator.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /v23.0/${phoneNumberId}/media HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${accessToken}\r\n` +
        'content-type: multipart/form-data; boundary=b\r\ncontent-length: 9999\r\n\r\n' +
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: image/png\r\n\r\nfirst bytes',
    )
    await expect.poll(keptFiles).toHaveLength(1)
    socket.destroy()
    await expect.poll(keptFiles).toEqual([])
    expect((await world.control('GET', '/media')).body.total).toBe(0)
  })

  it('fails on request', async () => {
    await world.control('POST', '/settings', { upload_fails: 1 })
    const { status, body } = await world.upload(picture, 'image/png')
    expect([status, errorOf(body).code]).toEqual([500, 131000])
    expect(keptFiles()).toEqual([])
    await world.control('POST', '/settings', { upload_fails: 0 })
    expect((await world.upload(picture, 'image/png')).status).toBe(200)
  })

  it('is listed but cannot be downloaded while keep_media is off', async () => {
    await world.control('POST', '/settings', { keep_media: false })
    const id = await world.uploaded(picture, 'image/png')
    expect(keptFiles()).toEqual([])
    expect((await describeMedium(id)).body).toMatchObject({ file_size: picture.length, sha256: sha256(picture, 'hex') })
    expect((await download(await urlOf(id))).status).toBe(404)
  })
})

describe('a media object', () => {
  it.each<[string, string | null, number]>([
    ['no token', null, 104],
    ['the token of another', 'wrong', 190],
  ])('is neither shown nor served with %s', async (_what, token, code) => {
    const id = await world.uploaded(picture, 'image/png')
    const url = await urlOf(id)
    for (const answer of [await describeMedium(id, token), await call('GET', url, undefined, token)]) {
      expect([answer.status, errorOf(answer.body).code]).toEqual([401, code])
    }
  })

  it('is shown for its own number only', async () => {
    const id = await world.uploaded(picture, 'image/png')
    expect((await describeMedium(id, accessToken, `?phone_number_id=${phoneNumberId}`)).status).toBe(200)
    const { status, body } = await describeMedium(id, accessToken, '?phone_number_id=999')
    expect([status, errorOf(body)]).toEqual([400, expect.objectContaining({ code: 100, error_subcode: 33 })])
  })

  it('that does not exist returns the upstream’s error', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await call(method, `${world.simulator.upstreamUrl}/12345`, undefined, accessToken)
      expect([status, errorOf(body)]).toEqual([400, expect.objectContaining({ code: 100, error_subcode: 33 })])
      expect(errorOf(body).message).toContain(`Unsupported ${method.toLowerCase()} request. Object with ID '12345'`)
    }
  })

  it('is gone after its deletion', async () => {
    const id = await world.uploaded(picture, 'image/png')
    const url = await urlOf(id)
    const remove = (token: string) => call('DELETE', `${world.simulator.upstreamUrl}/${id}`, undefined, token)
    expect((await remove('wrong')).status).toBe(401)
    expect(await remove(accessToken)).toEqual({ status: 200, body: { success: true } })
    expect((await describeMedium(id)).status).toBe(400)
    expect((await download(url)).status).toBe(404)
    expect(keptFiles()).toEqual([])
  })

  it('is not served at an invented URL', async () => {
    const url = new URL(await urlOf(await world.uploaded(picture, 'image/png')))
    url.searchParams.set('expires', `${Number(url.searchParams.get('expires')) + 1}`)
    expect((await download(url.href)).status).toBe(404)
  })

  it('is deleted by a reset', async () => {
    const id = await world.uploaded(picture, 'image/png')
    await world.control('POST', '/reset')
    expect((await describeMedium(id)).status).toBe(400)
    expect((await world.control('GET', '/media')).body).toMatchObject({ total: 0, media: [] })
    expect(keptFiles()).toEqual([])
  })

  it('leaves no folder behind when the simulator closes', async () => {
    const before = readdirSync(temporary)
    const other = await startWorld()
    await other.uploaded(picture, 'image/png')
    expect(readdirSync(temporary)).toHaveLength(before.length + 1)
    await other.close()
    expect(readdirSync(temporary)).toEqual(before)
  })
})

describe('the URL of a media object', () => {
  const now = 1_750_000_000_000
  const links = new MediaLinks()

  function isValid(id: string, at: number): boolean {
    const { searchParams } = new URL(links.pathOf('1', now), 'http://x')
    return links.isValid(id, searchParams.get('expires') ?? '', searchParams.get('signature') ?? '', at)
  }

  it('works for five minutes', () => {
    expect(isValid('1', now + 299_999)).toBe(true)
    expect(isValid('1', now + 300_000)).toBe(false)
  })

  it('works for one media object', () => {
    expect(isValid('2', now)).toBe(false)
  })
})

const inbound = (body: object) =>
  world.control('POST', '/inbound', { phone_number_id: phoneNumberId, from: '16505551234', ...body })

/** The file data in the callback of the only message. */
function told(type: string): Record<string, unknown> {
  const [message] = world.receiver.messages()
  return { ...message }[type as 'image'] as unknown as Record<string, unknown>
}

describe('a file from a person', () => {
  it.each([
    ['image', 'image/jpeg', 'image/jpeg', {}],
    ['video', 'video/mp4', 'video/mp4', {}],
    ['audio', 'audio/ogg; codecs=opus', 'audio/ogg; codecs=opus', { voice: true }],
    ['document', 'application/pdf', 'application/pdf', {}],
    ['sticker', 'image/webp', 'image/webp', { animated: false }],
  ])('is a real %s by default', async (type, mimeType, detected, flags) => {
    expect((await inbound({ type })).status).toBe(200)
    const file = told(type)
    const { status, type: served, bytes } = await download(await urlOf(String(file.id)))
    expect([status, served]).toEqual([200, mimeType])
    expect((await fileTypeFromBuffer(bytes))?.mime).toBe(detected)
    expect(file).toEqual({
      id: expect.stringMatching(/^\d+$/),
      mime_type: mimeType,
      sha256: sha256(bytes, 'base64'),
      ...flags,
    })
  })

  it('keeps the given fields', async () => {
    const audio = { id: '77', mime_type: 'audio/mpeg', sha256: 'given', voice: false }
    await inbound({ type: 'audio', audio })
    expect(told('audio')).toEqual(audio)
    expect((await describeMedium('77')).body).toMatchObject({ id: '77', mime_type: 'audio/mpeg' })
  })

  it('may be an uploaded one, named by its id', async () => {
    const id = await world.uploaded(picture, 'video/mp4')
    await inbound({ type: 'video', video: { id, caption: 'look' } })
    expect(told('video')).toEqual({
      id,
      mime_type: 'video/mp4',
      sha256: sha256(picture, 'base64'),
      caption: 'look',
    })
  })

  it('may be given in data, which the callback does not repeat', async () => {
    const data = Buffer.from(picture).toString('base64')
    await inbound({ type: 'document', document: { data, mime_type: 'text/csv', filename: 'a.csv' } })
    const file = told('document')
    expect(file).toEqual({
      id: expect.stringMatching(/^\d+$/),
      mime_type: 'text/csv',
      sha256: sha256(picture, 'base64'),
      filename: 'a.csv',
    })
    const { type, bytes } = await download(await urlOf(String(file.id)))
    expect([type, bytes.equals(picture)]).toEqual(['text/csv', true])
  })

  it('is not an upload: it is not listed, and cannot be sent by its id', async () => {
    await inbound({ type: 'image', image: { id: '78' } })
    expect((await world.control('GET', '/media')).body.total).toBe(0)
    const { body } = await world.send({
      messaging_product: 'whatsapp',
      to: '16505551234',
      type: 'image',
      image: { id: '78' },
    })
    expect(errorOf(body).code).toBe(131053)
  })

  it('is readable for every number that received it, with the token of each', async () => {
    const token = 'token-of-the-second'
    await world.control('PUT', '/numbers/222', { ...registration(world.receiver.url), access_token: token })
    await inbound({ type: 'image', image: { id: '79' } })
    expect((await describeMedium('79', token)).status).toBe(401)
    await inbound({ phone_number_id: '222', type: 'image', image: { id: '79' } })
    expect((await describeMedium('79', token, '?phone_number_id=222')).status).toBe(200)
    expect((await describeMedium('79')).status).toBe(200)
    await world.control('DELETE', '/numbers/222')
  })

  it.each([
    [{ data: 'not base64!' }, 'image.data must be Base64 of at least one byte'],
    [{ data: '' }, 'image.data must be Base64'],
    [{ data: 7 }, 'image.data must be Base64'],
    [{ id: 7 }, 'image.id must be a string'],
    [{ mime_type: '' }, 'image.mime_type must be a string that is not empty'],
  ])('is refused as %j', async (image, message) => {
    const { status, body } = await inbound({ type: 'image', image })
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
    expect(world.receiver.messages()).toEqual([])
  })
})

describe('a magic media id', () => {
  it('ending in 000404 does not exist', async () => {
    await inbound({ type: 'image', image: { id: '1000404' } })
    expect(told('image')).toMatchObject({ id: '1000404', mime_type: 'image/jpeg', sha256: expect.any(String) })
    const { status, body } = await describeMedium('1000404')
    expect([status, errorOf(body)]).toEqual([400, expect.objectContaining({ code: 100, error_subcode: 33 })])
  })

  it('ending in 000500 is unavailable the first time, and again after a reset', async () => {
    for (const _round of [1, 2]) {
      await inbound({ type: 'image', image: { id: '1000500' } })
      const { status, body } = await describeMedium('1000500')
      expect([status, errorOf(body).code]).toEqual([500, 131016])
      expect((await describeMedium('1000500')).status).toBe(200)
      await world.control('POST', '/reset')
    }
  })

  it.each([
    ['a sample', {}],
    ['a file', { data: Buffer.from(picture).toString('base64') }],
  ])('ending in 000408 breaks off once in the middle of %s', async (_what, image) => {
    await inbound({ type: 'image', image: { id: '1000408', ...image } })
    const url = await urlOf('1000408')
    const response = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } })
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
    const { status, bytes } = await download(url)
    expect([status, sha256(bytes, 'base64')]).toEqual([200, told('image').sha256])
  })
})

describe('other kinds of messages from a person', () => {
  it.each([
    ['location', { latitude: 52.5, longitude: 13.4, name: 'Gate', address: 'Pariser Platz', url: 'https://a.example' }],
    ['contacts', [{ name: { formatted_name: 'Ann' }, phones: [{ phone: '+16505551234', wa_id: '16505551234' }] }]],
    ['interactive', { type: 'list_reply', list_reply: { id: 'a', title: 'A', description: 'b' } }],
    ['interactive', { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } }],
    ['button', { payload: 'yes', text: 'Yes' }],
    ['order', { catalog_id: '1', text: '', product_items: [{ product_retailer_id: 'a', quantity: 1, item_price: 2 }] }],
    ['system', { body: 'changed', wa_id: '16505551235', type: 'user_changed_number' }],
    ['edit', { original_message_id: 'wamid.A', message: { type: 'text', text: { body: 'new' } } }],
    ['revoke', { original_message_id: 'wamid.A' }],
  ])('pass unchanged: %s', async (type, payload) => {
    await inbound({ type, [type]: payload, context: { id: 'wamid.B' } })
    expect(world.receiver.messages()).toMatchObject([{ type, [type]: payload, context: { id: 'wamid.B' } }])
  })

  it('pass as unsupported with the given fields', async () => {
    await inbound({ type: 'unsupported', unsupported: { type: 'edit' } })
    expect(world.receiver.messages()).toMatchObject([{ errors: [{ code: 131051 }], unsupported: { type: 'edit' } }])
  })
})
