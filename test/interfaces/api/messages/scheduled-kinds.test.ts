import { describe, expect, it } from 'vitest'
import { hasFfmpeg, withoutFfmpeg } from '../../../support/ffmpeg.js'
import { jpeg, mp3, ogg, png, webp } from '../../../support/media.js'
import { inTime, passTime } from '../../../support/scheduled.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'
import { uploadFile } from '../../../support/uploaded-files.js'

const house = useStarted(startSendWorld)

const upload = (bytes: Buffer) => uploadFile(house.world, house.organization, bytes)
const later = (phone_number: string, message: object) =>
  house.send({ phone_number, scheduled_at: inTime(house.world), ...message })

/** Sends a message later; resolves to what arrived at the upstream. */
async function sentLater(digits: string, message: object) {
  const answer = await later(digits, message)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  expect(await house.arrived(digits)).toEqual([])
  await passTime(house.world)
  const [sent, ...others] = await house.arrived(digits)
  expect(others).toEqual([])
  return sent.payload
}

async function storedFile(digits: string): Promise<Buffer> {
  const [message] = await house.shown(digits)
  return Buffer.from(await (await fetch(message.media_url)).arrayBuffer())
}

const interactive = (fields: object) => ({ message_type: 'interactive', interactive: { body: 'See', ...fields } })
const link = { type: 'cta_url', display_text: 'Open', url: 'https://shop.example/' }

describe('every kind of message can be sent later:', () => {
  it('a sticker and a voice note, which need no conversion', async () => {
    const [one, other] = [await house.newContact(), await house.newContact()]
    const sticker = { message_type: 'sticker', media_id: await upload(webp()) }
    expect((await sentLater(one, sticker)).sticker).toEqual({ id: expect.any(String) })
    expect(await storedFile(one)).toEqual(webp())
    const note = { message_type: 'audio', voice: true, media_id: await upload(ogg()) }
    expect((await sentLater(other, note)).audio).toEqual({ id: expect.any(String), voice: true })
    expect(await house.shown(other)).toMatchObject([{ media_type: 'audio', content: { type: 'audio', voice: true } }])
  })

  it.skipIf(!hasFfmpeg)('a sticker that is converted when it is accepted', async () => {
    const digits = await house.newContact()
    await sentLater(digits, { message_type: 'sticker', media_id: await upload(png()) })
    expect((await storedFile(digits)).toString('latin1', 8, 12)).toBe('WEBP')
  })

  it('a link below an uploaded file', async () => {
    const digits = await house.newContact()
    const header_media = { type: 'image', id: await upload(jpeg()) }
    const sent = await sentLater(digits, interactive({ ...link, header_media }))
    expect(sent.interactive).toMatchObject({ type: 'cta_url', header: { image: { id: expect.any(String) } } })
    expect(await storedFile(digits)).toEqual(jpeg())
  })

  it('a carousel', async () => {
    const digits = await house.newContact()
    const card = { ...link, header_media: { type: 'image', url: 'https://shop.example/mug.jpg' } }
    const sent = await sentLater(digits, interactive({ type: 'carousel', cards: [card, card] }))
    const cards = [{ card_index: 0 }, { card_index: 1 }]
    expect(sent.interactive).toMatchObject({ type: 'carousel', action: { cards } })
    expect(await house.shown(digits)).toMatchObject([{ content: { type: 'carousel', cards: [card, card] } }])
  })
})

it('refuses at once what cannot be converted, and keeps nothing', () =>
  withoutFfmpeg(async () => {
    const digits = await house.newContact()
    const answer = await later(digits, { message_type: 'audio', voice: true, media_id: await upload(mp3()) })
    expect([answer.status, answer.body.error]).toEqual([501, 'Not supported'])
    const { key } = house.organization
    expect((await house.world.request('GET', '/scheduled', { key })).body.scheduled).toEqual([])
  }))

it('names the field of an uploaded file that is none of the kind', async () => {
  const digits = await house.newContact()
  const header_media = { type: 'image', id: 'photo' }
  const answer = await later(digits, interactive({ ...link, header_media }))
  expect([answer.status, answer.body.error, answer.body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
  expect(answer.body.message).toMatch(/^interactive\.header_media\.id /)
})
