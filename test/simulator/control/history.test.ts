import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/lib/text/json.js'
import { phoneNumberId, useWorld } from '../../support/simulator.js'

const DAY_S = 86_400
const ANA = '12025550147'

const world = useWorld()

/** The values of the callbacks that a history is posted with. */
async function post(body: object): Promise<JsonObject[]> {
  const { taken } = world.receiver
  taken.length = 0
  const answer = await world.control('POST', '/history', { phone_number_id: phoneNumberId, ...body })
  expect(answer).toMatchObject({ status: 200, body: { success: true, delivered: taken.length } })
  await world.idle()
  return taken.map((text) => JSON.parse(text).entry[0].changes[0].value)
}

const daysAgo = (days: number) => Math.floor(Date.now() / 1_000 - days * DAY_S)
const text = (id: string, days: number, fields: object = {}) => {
  return { id, timestamp: daysAgo(days), type: 'text', text: id, ...fields }
}
const refuse = async (body: object) =>
  (await world.control('POST', '/history', { phone_number_id: phoneNumberId, ...body })).body.message

describe('POST /_sim/history', () => {
  it('posts three phases in chunks, newest first, with the progress', async () => {
    const messages = [
      text('old', 120),
      text('mine', 30, { from_me: true, status: 'SENT' }),
      text('b', 20),
      text('new', 0.5),
    ]
    const values = await post({
      threads: [{ with: `+${ANA}`, user_id: 'US.1', username: 'ana', messages }],
      chunk_size: 1,
    })
    const chunks = values.map(({ history }) => (history as JsonObject[])[0] as JsonObject)
    expect(chunks.map(({ metadata }) => metadata)).toEqual([
      { phase: 0, chunk_order: 1, progress: 25 },
      { phase: 1, chunk_order: 1, progress: 50 },
      { phase: 1, chunk_order: 2, progress: 75 },
      { phase: 2, chunk_order: 1, progress: 100 },
    ])
    const context = { wa_id: ANA, user_id: 'US.1', username: 'ana' }
    expect(chunks[0]?.threads).toEqual([
      {
        id: ANA,
        context,
        messages: [
          {
            ...{ from: ANA, from_user_id: 'US.1', id: 'new', timestamp: expect.any(String), type: 'text' },
            text: { body: 'new' },
            history_context: { status: 'READ' },
          },
        ],
      },
    ])
    expect(chunks[2]?.threads).toMatchObject([
      {
        messages: [
          { from: '15550783881', to: ANA, to_user_id: 'US.1', id: 'mine', history_context: { status: 'SENT' } },
        ],
      },
    ])
  })

  it('posts files of the newest 14 days by callbacks of their own', async () => {
    const image = (id: string, days: number, fields = {}) => ({
      id,
      timestamp: daysAgo(days),
      type: 'image',
      ...fields,
    })
    const messages = [image('old', 15), image('sent', 13, { from_me: true }), image('new', 0.5)]
    const values = await post({ threads: [{ with: ANA, messages }] })
    expect(values.flatMap(({ messages = [] }) => messages)).toMatchObject([
      { id: 'new', from: ANA, type: 'image', image: { id: expect.any(String), mime_type: 'image/jpeg' } },
    ])
    expect(values.flatMap(({ message_echoes = [] }) => message_echoes)).toMatchObject([
      { id: 'sent', to: ANA, type: 'image', image: { id: expect.any(String) } },
    ])
    const [first] = (values[0]?.history ?? []) as JsonObject[]
    expect(first).toMatchObject({ threads: [{ messages: [{ id: 'new', type: 'media_placeholder' }] }] })
    expect(JSON.stringify(first)).not.toContain('"image"')
  })

  it('posts that the business does not share it, or that there is nothing', async () => {
    expect(await post({ declined: true })).toMatchObject([{ history: [{ errors: [{ code: 2593109 }] }] }])
    expect(await post({ threads: [] })).toMatchObject([{ history: [{ metadata: { progress: 100 }, threads: [] }] }])
  })

  it('refuses what it cannot read', async () => {
    expect(await refuse({})).toContain('threads')
    expect(await refuse({ threads: [7] })).toContain('threads')
    expect(await refuse({ threads: [{ messages: [] }] })).toContain('with')
    expect(await refuse({ threads: [{ with: ANA, messages: [text('a', 1, { from_me: 'yes' })] }] })).toContain(
      'from_me',
    )
    expect(await refuse({ threads: [], chunk_size: 0 })).toContain('chunk_size')
  })
})
