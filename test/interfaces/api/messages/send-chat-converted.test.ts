import { describe, expect, it } from 'vitest'
import { hasFfmpeg, withoutFfmpeg } from '../../../support/ffmpeg.js'
import { FILES, startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)

const voice = (kind: keyof typeof FILES, rest?: string) => ({
  message_type: 'audio',
  media_url: house.fileUrl(kind, rest),
  voice: true,
})
const sticker = (kind: keyof typeof FILES) => ({ message_type: 'sticker', media_url: house.fileUrl(kind) })

async function storedFile({ media_url }: { media_url: string }): Promise<Buffer> {
  return Buffer.from(await (await fetch(media_url)).arrayBuffer())
}

describe('POST /send-chat with voice', () => {
  it('sends OGG with Opus unchanged, as a voice note', async () => {
    const digits = await house.newContact()
    await house.sent({ phone_number: digits, ...voice('ogg') })
    const [{ payload }] = await house.arrived(digits)
    expect(payload.audio).toEqual({ id: expect.any(String), voice: true })
    const [message] = await house.shown(digits)
    expect(message).toMatchObject({ message: '', message_type: 'audio', media_type: 'audio' })
    expect(await storedFile(message)).toEqual(FILES.ogg())
  })

  it('false is a sound file', async () => {
    const digits = await house.newContact()
    await house.sent({ phone_number: digits, ...voice('ogg'), voice: false })
    expect((await house.arrived(digits))[0].payload.audio).toEqual({ id: expect.any(String) })
  })

  it('is a boolean', async () => {
    const digits = await house.newContact()
    const { status, body } = await house.send({ phone_number: digits, ...voice('ogg'), voice: 'yes' })
    expect([status, body.message]).toEqual([400, 'voice must be true or false'])
  })

  it.skipIf(!hasFfmpeg)('refuses what is no sound', async () => {
    const digits = await house.newContact()
    const { status, body } = await house.send({ phone_number: digits, ...voice('pdf') })
    expect([status, body.error, body.reason]).toEqual([400, 'Invalid media', 'not_convertible'])
    expect(body.message).toMatch(/^media_url /)
    expect(await house.shown(digits)).toEqual([])
  })

  it('is 501 if the file must be converted and cannot be', () =>
    withoutFfmpeg(async () => {
      const digits = await house.newContact()
      const { status, body } = await house.send({ phone_number: digits, ...voice('mp3') })
      expect([status, body.error]).toEqual([501, 'Not supported'])
      expect(body.message).toContain('ffmpeg')
      expect(await house.arrived(digits)).toEqual([])
    }))

  it('does not fetch the file for somebody who is no contact', async () => {
    const { status } = await house.send({ phone_number: '16505559998', ...voice('ogg', 'unfetched') })
    expect(status).toBe(404)
    expect(house.files.taken.filter(({ path }) => path.endsWith('/unfetched'))).toEqual([])
  })
})

describe('POST /send-chat with a sticker', () => {
  it('sends WebP unchanged', async () => {
    const digits = await house.newContact()
    await house.sent({ phone_number: digits, ...sticker('webp') })
    expect((await house.arrived(digits))[0].payload.sticker).toEqual({ id: expect.any(String) })
    const [message] = await house.shown(digits)
    expect(message).toMatchObject({ message: '[sticker]', message_type: 'sticker', media_type: 'image' })
    expect(await storedFile(message)).toEqual(FILES.webp())
  })

  it.skipIf(!hasFfmpeg)('converts other pictures', async () => {
    const digits = await house.newContact()
    await house.sent({ phone_number: digits, ...sticker('png') })
    const [message] = await house.shown(digits)
    expect((await storedFile(message)).toString('latin1', 8, 12)).toBe('WEBP')
  })

  it('needs an address', async () => {
    const digits = await house.newContact()
    const { status, body } = await house.send({ phone_number: digits, message_type: 'sticker' })
    expect([status, body.error]).toEqual([400, 'Missing required field'])
  })
})
