import { describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { mediaRows } from '../../../support/rows/media.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'
import type { Answer } from '../../../support/world.js'

const house = useStarted(startSendWorld)

const isReplay = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true'

/** How often the file was fetched, uploaded and stored, and how many messages arrived and are shown. */
async function countOf(digits: string) {
  const { world, organization, files, arrived, shown } = house
  const { media } = (await world.sim('GET', `/media?phone_number_id=${organization.phoneNumberId}`)).body
  return {
    fetched: files.taken.length,
    uploaded: media.length,
    stored: (await mediaRows(world, organization)).length,
    arrived: (await arrived(digits)).length,
    shown: (await shown(digits)).length,
  }
}

describe('an Idempotency-Key with media', () => {
  it.each([
    ['an image', (url: string) => ({ message_type: 'image', media_url: url, caption: 'once' })],
    [
      'a header',
      (url: string) => ({
        message_type: 'interactive',
        interactive: {
          type: 'button',
          body: 'Pay?',
          buttons: [{ id: 'a', title: 'A' }],
          header_media: { type: 'image', url },
        },
      }),
    ],
  ])('returns the first answer again without a fetch, upload or send: %s', async (name, make) => {
    const digits = await house.newContact()
    const body = { phone_number: digits, ...make(house.fileUrl('png')) }
    const first = await house.send(body, name)
    expect([first.status, isReplay(first)]).toEqual([200, false])
    const counted = await countOf(digits)
    const again = await house.send({ ...body }, name)
    expect([again.status, isReplay(again)]).toEqual([200, true])
    expect(again.body).toEqual(first.body)
    expect(await countOf(digits)).toEqual(counted)
    expect(counted).toMatchObject({ arrived: 1, shown: 1 })
  })

  it('returns 422 for another media_url, caption or filename', async () => {
    const digits = await house.newContact()
    const media_url = house.fileUrl('pdf', 'one.pdf')
    const body = { phone_number: digits, message_type: 'document', media_url, caption: 'x', filename: 'x.pdf' }
    await house.send(body, 'reused')
    const counted = await countOf(digits)
    for (const other of [{ media_url: house.fileUrl('pdf', 'two.pdf') }, { caption: 'y' }, { filename: 'y.pdf' }]) {
      const answer = await house.send({ ...body, ...other }, 'reused')
      expect([answer.status, answer.body.error]).toEqual([422, 'Idempotency key reused'])
    }
    expect(await countOf(digits)).toEqual(counted)
  })

  it('used by 10 concurrent requests sends one file and one message', async () => {
    const digits = await house.newContact()
    const before = await countOf(digits)
    const body = { phone_number: digits, message_type: 'image', media_url: house.fileUrl('png') }
    const answers = await Promise.all(Array.from({ length: 10 }, () => house.send(body, 'ten')))
    for (const answer of answers) expect([200, 409]).toContain(answer.status)
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(await countOf(digits)).toEqual({
      fetched: before.fetched + 1,
      uploaded: before.uploaded + 1,
      stored: before.stored + 1,
      arrived: 1,
      shown: 1,
    })
  })

  it('keeps no refusal of the file: once it is available, the same key sends it', async () => {
    const digits = await house.newContact()
    const refused = { phone_number: digits, message_type: 'image', media_url: house.fileUrl('pdf') }
    for (const attempt of [1, 2]) {
      const answer = await house.send(refused, 'wrong kind')
      expect([answer.status, answer.body.error, isReplay(answer)], String(attempt)).toEqual([
        400,
        'Invalid media',
        false,
      ])
    }
    const answer = await house.send({ ...refused, media_url: house.fileUrl('png') }, 'wrong kind')
    expect([answer.status, isReplay(answer)]).toEqual([200, false])
    expect(await countOf(digits)).toMatchObject({ arrived: 1, shown: 1 })
  })

  it('keeps no failed upload: once the upstream accepts the file, the same key sends it', async () => {
    const digits = await house.newContact()
    const body = { phone_number: digits, message_type: 'image', media_url: house.fileUrl('png') }
    await house.world.sim('POST', '/settings', { upload_fails: 1 })
    const failed = await house.send(body, 'upload')
    await house.world.sim('POST', '/settings', { upload_fails: 0 })
    expect([failed.status, failed.body]).toEqual([
      500,
      {
        success: false,
        error: 'Upstream upload failed',
        message: 'Failed to upload media to upstream',
        details: expect.any(String),
        upstream_code: 131000,
      },
    ])
    expect(await countOf(digits)).toMatchObject({ arrived: 0, shown: 0 })
    const answer = await house.send(body, 'upload')
    expect([answer.status, isReplay(answer)]).toEqual([200, false])
    expect(await countOf(digits)).toMatchObject({ arrived: 1, shown: 1 })
  })

  it('keeps the refusal of the message, and does not upload the file again', async () => {
    const digits = '5511977000001'
    await house.world.request('POST', '/contact', { key: house.organization.key, body: { phone_number: `+${digits}` } })
    const body = { phone_number: digits, message_type: 'image', media_url: house.fileUrl('png') }
    const first = await house.send(body, 'refused')
    expect([first.status, first.body.error]).toEqual([400, 'Upstream rejected message'])
    const counted = await countOf(digits)
    const again = await house.send(body, 'refused')
    expect([again.status, isReplay(again), again.body]).toEqual([400, true, first.body])
    expect(await countOf(digits)).toEqual(counted)
    const [message] = await house.shown(digits)
    expect(message).toMatchObject({ message_status: 'failed', media_type: 'image', error: { code: 131026 } })
    expect((await fetch(message.media_url)).status).toBe(200)
  })
})

describe('an Idempotency-Key with a reaction', () => {
  it('returns the first answer, and sends nothing', async () => {
    const { world, organization, newContact, send, sent, arrived, shown, eventsAbout } = house
    const digits = await newContact()
    const question = textMessage(digits, '?')
    await receiveMessages(world, organization, question)
    const body = { phone_number: digits, message_type: 'reaction', reaction: { message_id: question.id, emoji: '🎉' } }
    const first = await send(body, 'reaction')
    expect([first.status, isReplay(first)]).toEqual([200, false])
    // The replay does not undo later changes.
    await sent({ ...body, reaction: { message_id: question.id, emoji: '' } })
    const again = await send(body, 'reaction')
    expect([again.status, isReplay(again), again.body]).toEqual([200, true, first.body])
    expect(await arrived(digits)).toHaveLength(2)
    expect((await shown(digits))[0].reactions).toEqual([])
    const told = (await eventsAbout(digits)).filter(({ type }) => type === 'message.reaction')
    expect(told.map(({ data }) => data.message.text)).toEqual(['🎉', ''])
  })

  it('returns 422 for another emoji, or none', async () => {
    const { world, organization, newContact, send, arrived } = house
    const digits = await newContact()
    const question = textMessage(digits, '?')
    await receiveMessages(world, organization, question)
    const react = (emoji?: string) =>
      send(
        { phone_number: digits, message_type: 'reaction', reaction: { message_id: question.id, emoji } },
        'other emoji',
      )
    await react('👍')
    for (const emoji of ['🎉', '', undefined]) {
      const answer = await react(emoji)
      expect([answer.status, answer.body.error]).toEqual([422, 'Idempotency key reused'])
    }
    expect(await arrived(digits)).toHaveLength(1)
  })
})
