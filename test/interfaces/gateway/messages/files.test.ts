import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { hasFfmpeg, withoutFfmpeg } from '../../../support/ffmpeg.js'
import { filledBody, formOf, startMessageWorld, streamBody } from '../../../support/gateway-messages.js'
import { aac, jpeg, mp3, mp4, ogg, pdf, png, webp } from '../../../support/media.js'
import { useStarted } from '../../../support/started.js'

const on = useStarted(startMessageWorld)

/** No file may be left in the spool. */
afterEach(async () => {
  await on.world.app.ctx.spool.use(async (path) => {
    expect(await readdir(path.slice(0, path.lastIndexOf('/')))).toEqual([])
  })
})

const MEBIBYTE = 1_048_576
/** A document of this many bytes that cannot be compressed. */
const documentOf = (bytes: number) => Buffer.concat([pdf(), randomBytes(bytes - pdf().length)])

/** Sends a form; fetch writes its Content-Type. */
async function sendForm(verb: string, form: FormData, headers: Record<string, string> = {}) {
  const response = await fetch(`${on.world.app.url}/gateway/message/${verb}/phone`, {
    method: 'POST',
    headers: { apikey: on.organization.key, ...headers },
    body: form,
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

/** The bytes of the file that a message shows. */
async function fileOf(body: { message: { mediaUrl: string } }): Promise<Buffer> {
  return Buffer.from(await (await fetch(body.message.mediaUrl)).arrayBuffer())
}

describe('a file in the body', () => {
  it.each([
    ['base64', () => jpeg().toString('base64')],
    ['base64 of URLs, without padding', () => jpeg().toString('base64url')],
    ['base64 in lines', () => jpeg().toString('base64').replace(/.{76}/g, '$&\r\n')],
    ['a data: URL', () => `data:image/jpeg;base64,${jpeg().toString('base64')}`],
  ])('is accepted as %s, in bodies of both generations', async (_name, media) => {
    const forms = [{ mediatype: 'image', media: media() }, { mediaMessage: { mediatype: 'image', media: media() } }]
    for (const form of forms) {
      const { status, body } = await on.send('sendMedia', 'phone', { number: on.newNumber(), ...form })
      expect(status, JSON.stringify(body)).toBe(201)
      expect(await fileOf(body)).toEqual(jpeg())
    }
  })

  it('is streamed if it is large', async () => {
    const file = documentOf(20 * MEBIBYTE)
    const number = on.newNumber()
    const escaped = JSON.stringify({ number, mediatype: 'document', fileName: 'a.pdf', media: 'FILE' })
    const texts = [file.toString('base64'), file.toString('base64').replaceAll('/', '\\/')]
    for (const text of texts) {
      const { status, body } = await on.send('sendMedia', 'phone', escaped.replace('FILE', text))
      expect(status, JSON.stringify(body)).toBe(201)
      expect((await fileOf(body)).equals(file)).toBe(true)
    }
    expect((await on.arrived(number))[0].document.filename).toBe('a.pdf')
  })

  it('is sent once per Idempotency-Key, and another file counts as another body', async () => {
    const headers = { 'idempotency-key': 'file' }
    const number = on.newNumber()
    const send = (media: Buffer) =>
      on.send('sendMedia', 'phone', { number, mediatype: 'image', media: media.toString('base64') }, headers)
    expect((await send(png())).status).toBe(201)
    const again = await send(png())
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect((await send(jpeg())).status).toBe(422)
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it.each([
    ['invalid base64', 'not base64!', /base64/],
    ['another type of file', pdf().toString('base64'), /application\/pdf/],
    ['a long text that is not base64', '?'.repeat(100_000), /base64/],
    ['a private address', 'http://10.0.0.1/a.png', /PARLEY_ALLOWED_PRIVATE_HOSTS/],
  ])('is refused: %s', async (_name, media, said) => {
    const { status, body } = await on.send('sendMedia', 'phone', { number: on.newNumber(), mediatype: 'image', media })
    expect([status, body.status]).toEqual([400, 400])
    expect(body.response.message[0]).toMatch(said)
  })

  it('needs a file name if it is a document', async () => {
    const body = { number: on.newNumber(), mediatype: 'document', media: pdf().toString('base64') }
    const { status, body: answer } = await on.send('sendMedia', 'phone', body)
    expect([status, answer.response.message]).toEqual([400, [['For base64 the file name must be informed.']]])
    expect((await on.send('sendMedia', 'phone', { ...body, media: on.fileUrl('pdf') })).status).toBe(201)
  })

  it('may have white space and a byte order mark before the PDF', async () => {
    const number = on.newNumber()
    const file = Buffer.concat([Buffer.from('\ufeff\r\n '), pdf()])
    const body = { number, mediatype: 'document', fileName: 'a.pdf', media: file.toString('base64') }
    expect((await on.send('sendMedia', 'phone', body)).status).toBe(201)
    const form = formOf({ number, mediatype: 'document' }, { file: [file, 'b.pdf'] })
    expect((await sendForm('sendMedia', form)).status).toBe(201)
    const sent = (await on.arrived(number)).map(({ document }: { document: { filename: string } }) => document.filename)
    expect(sent).toEqual(['a.pdf', 'b.pdf'])
  })

  it('returns 413 if it is too large, with and without Content-Length', async () => {
    const text = `{"number":"${on.newNumber()}","mediatype":"document","media":"${'A'.repeat(141 * MEBIBYTE)}"}`
    const { status, body } = await on.send('sendMedia', 'phone', text)
    expect([status, body.status]).toEqual([413, 413])
    const streamed = await streamBody(
      on,
      'sendMedia',
      'application/json',
      filledBody('{"media":"', 141 * MEBIBYTE, 'A'),
    )
    expect([streamed.status, streamed.body.status]).toEqual([413, 413])
  })

  it('returns 413 if the other fields are too large', async () => {
    const others = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`extra${index}`, 'x'.repeat(60_000)]))
    const { status } = await on.send('sendText', 'phone', { number: on.newNumber(), text: 'x', ...others })
    expect(status).toBe(413)
  })
})

describe('a form', () => {
  it('brings a file with its name', async () => {
    const number = on.newNumber()
    const fields = { number, mediatype: 'document', caption: 'look', delay: '1' }
    const { status, body } = await sendForm('sendMedia', formOf(fields, { file: [documentOf(MEBIBYTE), 'offer.pdf'] }))
    expect(status, JSON.stringify(body)).toBe(201)
    const [{ document }] = await on.arrived(number)
    expect(document).toEqual({ id: expect.any(String), caption: 'look', filename: 'offer.pdf' })
  })

  it('is sent once for one Idempotency-Key', async () => {
    const number = on.newNumber()
    const headers = { 'idempotency-key': 'form' }
    const send = () =>
      sendForm('sendMedia', formOf({ number, mediatype: 'image' }, { file: [png(), 'a.png'] }), headers)
    expect([(await send()).status, (await send()).headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it('counts as another body with another file or other fields', async () => {
    const number = on.newNumber()
    const send = (fields: Record<string, string>, file: Buffer, name = 'a.png') =>
      sendForm('sendMedia', formOf({ number, mediatype: 'image', ...fields }, { file: [file, name] }), {
        'idempotency-key': 'another form',
      })
    expect((await send({}, png())).status).toBe(201)
    for (const other of [send({}, jpeg()), send({ caption: 'x' }, png()), send({}, png(), 'b.png')]) {
      const { status, body } = await other
      expect([status, body.status]).toEqual([422, 422])
    }
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it('is too large: 413', async () => {
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4\n'
    const streamed = await streamBody(
      on,
      'sendMedia',
      'multipart/form-data; boundary=x',
      filledBody(head, 141 * MEBIBYTE),
    )
    expect([streamed.status, streamed.body.status]).toEqual([413, 413])
  })

  it('may contain options as JSON and empty fields', async () => {
    const number = on.newNumber()
    const options = JSON.stringify({ delay: 1, linkPreview: null })
    const fields = { number, mediatype: 'Image', caption: '', delay: '', mentioned: '', quoted: '{}', options, x: '1' }
    expect((await sendForm('sendMedia', formOf(fields, { file: [png(), 'a.png'] }))).status).toBe(201)
    expect((await on.arrived(number))[0].image).toEqual({ id: expect.any(String) })
  })

  it('is refused with two files', async () => {
    const form = formOf({ number: on.newNumber(), mediatype: 'image' }, { file: [png(), 'a.png'] })
    form.append('file', new Blob([jpeg()]), 'b.jpg')
    const { status, body } = await sendForm('sendMedia', form)
    expect([status, body.response.message[0][0]]).toEqual([400, expect.stringContaining('two parts')])
  })

  it.each([
    ['no file', formOf({ number: '16505559999', mediatype: 'image' }), 'media'],
    [
      'a field that is not valid JSON',
      formOf({ number: '16505559999', delay: 'soon' }, { file: [png(), 'a.png'] }),
      'delay',
    ],
    ['no number', formOf({ mediatype: 'image' }, { file: [png(), 'a.png'] }), 'number'],
  ])('is refused: %s', async (_name, form, said) => {
    const { status, body } = await sendForm('sendMedia', form)
    expect(status).toBe(400)
    expect(JSON.stringify(body.response.message)).toContain(said)
  })

  it.each([
    ['sendMedia', 'a%00.pdf', 'fileName'],
    ['sendMedia', `${'a'.repeat(5_000)}.pdf`, 'fileName must have at most 240'],
    ['sendAudio', 'a%00.ogg', 'fileName'],
  ])('%s validates the file name of the form like a field', async (verb, filename, said) => {
    const number = on.newNumber()
    const fields = Object.entries({ number, mediatype: 'document' })
      .map(([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('')
    const file = `--x\r\ncontent-disposition: form-data; name="file"; filename*=UTF-8''${filename}\r\n\r\n%PDF-1.4\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const { status, body } = await on.send(verb, 'phone', `${fields}${file}--x--\r\n`, headers)
    expect([status, body.response.message[0][0]]).toEqual([400, expect.stringContaining(said)])
    expect(await on.arrived(number)).toEqual([])
  })

  it('is refused if it is incomplete', async () => {
    const body = '--x\r\ncontent-disposition: form-data; name="number"\r\n\r\n1650'
    const answer = await on.send('sendMedia', 'phone', body, { 'content-type': 'multipart/form-data; boundary=x' })
    expect(answer.status).toBe(400)
  })
})

describe('sound', () => {
  /** A tenth of a second of silence. */
  const wav = () => {
    const head = Buffer.from(
      'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0',
      'latin1',
    )
    head.writeUInt32LE(36 + 1_600, 4)
    head.writeUInt32LE(1_600, 40)
    return Buffer.concat([head, Buffer.alloc(1_600)])
  }

  it.skipIf(!hasFfmpeg).each(['sendWhatsAppAudio', 'sendAudio'])('is converted to a voice note by %s', async (verb) => {
    for (const form of [{ audio: wav().toString('base64') }, { audioMessage: { audio: wav().toString('base64') } }]) {
      const number = on.newNumber()
      const { status, body } = await on.send(verb, 'phone', { number, ...form })
      expect(status, JSON.stringify(body)).toBe(201)
      expect((await fileOf(body)).toString('latin1', 28, 36)).toBe('OpusHead')
      expect((await on.arrived(number))[0].audio).toEqual({ id: expect.any(String), voice: true })
    }
  })

  it('is sent unchanged if it is a voice note already, also from a URL', async () => {
    const number = on.newNumber()
    const { status, body } = await on.send('sendAudio', 'phone', { number, audio: on.fileUrl('ogg') })
    expect([status, await fileOf(body)]).toEqual([201, ogg()])
    expect((await on.arrived(number))[0].audio.voice).toBe(true)
  })

  it('is sent unchanged with encoding false', async () => {
    for (const [bytes, options] of [
      [mp3(), { encoding: false }],
      [aac(), { options: { encoding: false } }],
    ] as const) {
      const number = on.newNumber()
      const audio = bytes.toString('base64')
      const { status, body } = await on.send('sendAudio', 'phone', { number, audio, ...options })
      expect([status, await fileOf(body)]).toEqual([201, bytes])
      expect((await on.arrived(number))[0].audio.voice).toBeUndefined()
    }
  })

  it.skipIf(!hasFfmpeg)('is refused if the file is not sound', async () => {
    const audio = Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n').toString('base64')
    const { status, body } = await on.send('sendAudio', 'phone', { number: on.newNumber(), audio })
    expect([status, body.response.reason]).toEqual([400, 'not_convertible'])
    expect(JSON.stringify(body)).not.toContain('spool')
  })

  it('needs ffmpeg if it has to be converted', () =>
    withoutFfmpeg(async () => {
      const number = on.newNumber()
      const audio = mp3().toString('base64')
      const insisted = await on.send('sendAudio', 'phone', { number, audio, encoding: true })
      expect([insisted.status, insisted.body.response.message[0]]).toEqual([501, expect.stringContaining('ffmpeg')])
      expect((await on.send('sendAudio', 'phone', { number, audio })).status).toBe(201)
    }))
})

describe('stickers', () => {
  it('are sent unchanged if they are WebP', async () => {
    const kept = await on.send('sendSticker', 'phone', { number: on.newNumber(), sticker: webp().toString('base64') })
    expect([kept.status, await fileOf(kept.body)]).toEqual([201, webp()])
  })

  it.skipIf(!hasFfmpeg)('are converted from other types', async () => {
    const stickerMessage = { image: png().toString('base64') }
    const made = await on.send('sendSticker', 'phone', { number: on.newNumber(), stickerMessage })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect((await fileOf(made.body)).toString('latin1', 8, 12)).toBe('WEBP')
  })
})

describe('videos', () => {
  it('are sent from base64', async () => {
    const body = { number: on.newNumber(), mediatype: 'video', media: mp4().toString('base64') }
    expect((await on.send('sendMedia', 'phone', body)).status).toBe(201)
  })
})
