import { describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { jpeg, mp3, mp4, ogg, pdf, webp } from '../../../support/media.js'
import { uploadFile } from '../../../support/uploaded-files.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const DAY_MS = 24 * 3_600_000

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let people = 0

async function newContact(owner: TestOrganization = organization): Promise<string> {
  const digits = `1650557${String(++people).padStart(4, '0')}`
  await createContact(world, owner, `+${digits}`)
  return digits
}

const send = (phone_number: string, body: object, owner = organization) =>
  world.request('POST', '/send-chat', { key: owner.key, body: { phone_number, ...body } })

const shown = async (digits: string) => (await conversation(world, organization, digits)).body.messages

async function lastSent() {
  const { body } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=1`)
  return body.messages[0].payload
}

const buttons = (header_media: object) => ({
  message_type: 'interactive',
  interactive: { type: 'button', body: 'Well?', buttons: [{ id: 'yes', title: 'Yes' }], header_media },
})

describe('POST /send-chat with media_id', () => {
  it.each([
    ['image', jpeg(), {}, {}],
    ['video', mp4(), {}, {}],
    ['audio', mp3(), {}, {}],
    ['document', pdf(), {}, { filename: 'bill.pdf' }],
    ['document', pdf(), { filename: 'March.pdf' }, { filename: 'March.pdf' }],
  ])('sends an uploaded file: %s', async (message_type, bytes, given, extras) => {
    const media_id = await uploadFile(world, organization, bytes, 'bill.pdf')
    const digits = await newContact()
    const answer = await send(digits, { message_type, media_id, ...given })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(await lastSent()).toMatchObject({ to: digits, [message_type]: { id: expect.any(String), ...extras } })
    const [message] = await shown(digits)
    expect(message).toMatchObject({ media_type: message_type, message_status: 'sent' })
    const stored = await fetch(message.media_url)
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('sends a sticker, a voice note, and the picture above a link', async () => {
    const digits = await newContact()
    const link = { type: 'cta_url', body: 'See', display_text: 'Open', url: 'https://shop.example/' }
    const header_media = { type: 'image', id: await uploadFile(world, organization, jpeg()) }
    for (const [message, expected] of [
      [{ message_type: 'sticker', media_id: await uploadFile(world, organization, webp()) }, { type: 'sticker' }],
      [
        { message_type: 'audio', voice: true, media_id: await uploadFile(world, organization, ogg()) },
        { audio: { voice: true } },
      ],
      [
        { message_type: 'interactive', interactive: { ...link, header_media } },
        { interactive: { type: 'cta_url', header: { image: { id: expect.any(String) } } } },
      ],
    ] as const) {
      const answer = await send(digits, message)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      expect(await lastSent()).toMatchObject(expected)
    }
  })

  it('sends the same upload to several people, and their messages keep it when it has expired', async () => {
    const media_id = await uploadFile(world, organization, jpeg())
    const people = [await newContact(), await newContact()]
    for (const digits of people) {
      expect((await send(digits, { message_type: 'image', media_id })).status).toBe(200)
    }
    world.advance(DAY_MS)
    await world.drain()
    const late = await send(people[0] as string, { message_type: 'image', media_id })
    expect([late.status, late.body.error, late.body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
    for (const digits of people) {
      const messages = await shown(digits)
      expect(messages).toHaveLength(1)
      expect((await fetch(messages[0].media_url)).status).toBe(200)
    }
  })

  it('refuses an unknown id, a foreign one, and a text that is none, with one and the same answer', async () => {
    const digits = await newContact()
    const foreign = await uploadFile(world, other, jpeg())
    const ids = [newId(), foreign, 'photo', '../../etc/passwd']
    const answers = await Promise.all(ids.map((media_id) => send(digits, { message_type: 'image', media_id })))
    for (const { status, body } of answers) {
      expect([status, body.error, body.reason]).toEqual([400, 'Invalid media', 'unknown_id'])
      expect(body.message).toBe(answers[0]?.body.message)
    }
    expect(answers[0]?.body.message).toMatch(/^media_id cannot be used: no uploaded file/)
    expect(await shown(digits)).toEqual([])
    const theirs = await newContact(other)
    expect((await send(theirs, { message_type: 'image', media_id: foreign }, other)).status).toBe(200)
  })

  it('refuses the file of a message as an upload', async () => {
    const digits = await newContact()
    await send(digits, { message_type: 'image', media_id: await uploadFile(world, organization, jpeg()) })
    const [{ id }] = await shown(digits)
    expect((await send(digits, { message_type: 'image', media_id: id })).body.reason).toBe('unknown_id')
  })

  it('refuses a file of another kind, or too big for it', async () => {
    const digits = await newContact()
    const media_id = await uploadFile(world, organization, pdf())
    const { status, body } = await send(digits, { message_type: 'image', media_id })
    expect([status, body.error, body.reason]).toEqual([400, 'Invalid media', 'wrong_type'])
    expect(body.message).toBe(
      'media_id cannot be used: its content is application/pdf, and image messages take JPEG or PNG',
    )
  })

  it('takes one of media_id and media_url', async () => {
    const digits = await newContact()
    const media_id = await uploadFile(world, organization, jpeg())
    const both = await send(digits, { message_type: 'image', media_id, media_url: 'https://example.com/a.png' })
    expect([both.status, both.body.error]).toEqual([400, 'Invalid field'])
    expect(both.body.message).toBe('media_url and media_id exclude each other: give one')
    expect((await send(digits, { message_type: 'image', media_id, media_url: '' })).status).toBe(200)
    const neither = await send(digits, { message_type: 'image' })
    expect(neither.body.message).toBe('media_url is required for media messages, unless media_id is given')
  })

  it('suggests media_id for names that are like it', async () => {
    const digits = await newContact()
    const { body } = await send(digits, { message_type: 'image', mediaId: newId() })
    expect(body.warnings).toEqual(['The field mediaId is not known and was ignored. Did you mean media_id?'])
  })
})

describe('interactive.header_media.id', () => {
  it.each([
    ['image', jpeg(), {}],
    ['document', pdf(), { filename: 'offer.pdf' }],
  ])('shows an uploaded file above the body: %s', async (type, bytes, extras) => {
    const id = await uploadFile(world, organization, bytes, 'offer.pdf')
    const digits = await newContact()
    const answer = await send(digits, buttons({ type, id }))
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect((await lastSent()).interactive.header).toEqual({ type, [type]: { id: expect.any(String), ...extras } })
  })

  it('excludes url, and must be known', async () => {
    const digits = await newContact()
    const url = 'https://example.com/a.png'
    const both = await send(digits, buttons({ type: 'image', url, id: newId() }))
    expect([both.status, both.body.error, both.body.message]).toEqual([
      400,
      'Invalid field',
      'interactive.header_media.url and interactive.header_media.id exclude each other: give one',
    ])
    const unknown = await send(digits, buttons({ type: 'image', id: newId() }))
    expect([unknown.status, unknown.body.error]).toEqual([400, 'Invalid media'])
    expect(unknown.body.message).toMatch(/^interactive\.header_media\.id cannot be used/)
    const neither = await send(digits, buttons({ type: 'image' }))
    expect([neither.status, neither.body.error]).toEqual([400, 'Missing required field'])
  })
})
