import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/bytes/id.js'
import { packBody, unpackBody } from '../../../src/storage/organizations/callback-bodies.js'
import { changeFor, envelope, post, textMessage } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { callbackRows } from '../../support/rows/callbacks.js'
import { writeAsBefore } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

afterEach(() => writeAsBefore(world, false))

/** The bodies as they are stored, oldest first. */
async function stored(): Promise<Buffer[]> {
  const { rows } = await world.database.pool.query<{ body: Buffer }>(
    'SELECT body FROM callbacks WHERE organization_id = $1 ORDER BY id',
    [organization.id],
  )
  return rows.map(({ body }) => body)
}

describe('a raw callback', () => {
  it.each([
    ['packed', false, 1],
    ['as it came, while version 1.0 may read it', true, '{'.charCodeAt(0)],
  ])('is stored %s, and processed', async (_form, isBefore, first) => {
    await writeAsBefore(world, isBefore)
    const from = `1650556000${++people}`
    await post(world, organization, { messages: [textMessage(from, 'Hello, is it open?')] })
    // What waits is processed in either form.
    await writeAsBefore(world, !isBefore)
    await world.drain()
    expect((await stored()).at(-1)?.[0]).toBe(first)
    const rows = await callbackRows(world, { organization_id: organization.id })
    expect(JSON.parse(rows.at(-1)?.body.toString('utf8') ?? '')).toMatchObject({ object: 'whatsapp_business_account' })
    expect((await conversation(world, organization, from)).body.messages).toMatchObject([
      { message: 'Hello, is it open?' },
    ])
  })
})

it('a damaged body fails by itself, and the callbacks around it are processed', async () => {
  const from = `1650556000${++people}`
  const bodyOf = (text: string) => {
    const message = textMessage(from, text)
    const change = changeFor(organization, { messages: [message] })
    return packBody(Buffer.from(JSON.stringify(envelope(organization.businessAccountId, change)))) as Buffer
  }
  const garbled = bodyOf('garbled').fill(0xff, 1)
  const cut = bodyOf('cut').subarray(0, -10)
  const ids = Array.from({ length: 4 }, newId)
  await world.database.pool.query(
    `INSERT INTO callbacks (organization_id, id, body, waiting)
     SELECT $1, id, body, true FROM unnest($2::uuid[], $3::bytea[]) AS given (id, body)`,
    [organization.id, ids, [bodyOf('before'), garbled, cut, bodyOf('after')]],
  )
  const failed = async () => {
    const { rows } = await world.database.pool.query(
      'SELECT callback_id AS id, attempts, error FROM set_aside_callbacks WHERE organization_id = $1 ORDER BY callback_id',
      [organization.id],
    )
    return rows
  }
  const error = 'the body of the callback is not a JSON object'
  await world.drain()
  expect((await conversation(world, organization, from)).body.messages).toMatchObject([
    { message: 'before' },
    { message: 'after' },
  ])
  expect(await failed()).toEqual([1, 2].map((n) => ({ id: ids[n], attempts: 1, error })))
  world.advance(60_000)
  await world.drain()
  expect(await failed()).toEqual([1, 2].map((n) => ({ id: ids[n], attempts: 2, error })))
})

describe('a packed body', () => {
  const status = {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '419561257915477',
        changes: [
          {
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
              statuses: [
                {
                  id: 'wamid.HBgNNTUxMTk3MDAwMDAxNxUCABEYEjJFQzRBOTk2NDZCNzBGQjg5RQA=',
                  status: 'read',
                  timestamp: '1795000220',
                  recipient_id: '5511970000017',
                  biz_opaque_callback_data: '0193b1d2-0000-7000-8000-000000000001',
                },
              ],
            },
            field: 'messages',
          },
        ],
      },
    ],
  }

  it('that is stored can be read for ever', () => {
    const stored =
      '01b5d2b10ac2301006e077710fdc5d724d3238246d15844452d241471184f6012c7d7a898b831241f01ffee9bfe9bedff829b4dc20b1b6c84aebff' +
      '694466066da431f8112642c30a241329b244c5690d60cce312f22c43e7eea1734b5cc6d6f9fed44f875d5a077fcc33c5eedcc6d5efd374e321b9ed' +
      '57b496018008ded531235a0d254f19156b80565ef04aa28c45b911a614bc829bca1f1f'
    expect(unpackBody(Buffer.from(stored, 'hex')).toString()).toBe(JSON.stringify(status))
  })

  it('that repeats the dictionary shows that no byte of it has changed', () => {
    const dictionary = unpackBody(Buffer.from('01531a2d9b47cbe6d1b279b46c1e2d9b075dd90c00', 'hex'))
    expect(dictionary).toHaveLength(1_436)
    expect(createHash('sha256').update(dictionary).digest('hex')).toBe(
      '71541e6dbae732c59969f7828b60e937f00cf0c0800a47d19ceaa9440903dee9',
    )
  })

  it('takes half of the room', () => {
    const body = Buffer.from(JSON.stringify(status))
    expect((packBody(body) as Buffer).length).toBeLessThan(body.length / 2)
  })

  it('is the same when it is unpacked, or is not packed at all', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: 'binary', maxLength: 40_000 }), (json, text) => {
        for (const body of [json, JSON.stringify({ ...status, text }), ''].map((one) => Buffer.from(one))) {
          expect(unpackBody(packBody(body) ?? body)).toEqual(body)
        }
      }),
    )
  })

  it('that would be larger than any that is packed stays as it is stored', () => {
    const stored = (length: number) => Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(length))])
    expect(unpackBody(stored(16_384))).toHaveLength(16_384)
    expect(unpackBody(stored(16_385))).toEqual(stored(16_385))
  })

  it('is none of a large body, or of one of a linked device', () => {
    expect(packBody(Buffer.from(JSON.stringify({ text: 'x'.repeat(20_000) })))).toBeNull()
    expect(packBody(Buffer.from(JSON.stringify({ object: 'linked_device', text: 'x'.repeat(1_000) })))).toBeNull()
  })
})
