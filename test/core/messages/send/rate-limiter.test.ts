import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSendRateLimiter } from '../../../../src/core/messages/send/rate-limiter.js'
import { type Database, openDatabase } from '../../../../src/database/pool.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { ReserveSendSlot, SendSlot } from '../../../../src/model/messages/send-rate.js'
import { reserveSendTime } from '../../../../src/storage/messages/send-rates.js'
import { createTestDatabase, type TestDatabase } from '../../../support/database.js'

let database: TestDatabase
let second: Database
let reserveSendSlot: ReserveSendSlot
let takeTurnElsewhere: ReserveSendSlot

beforeAll(async () => {
  database = await createTestDatabase()
  second = openDatabase(database.connection, 4, () => undefined)
  reserveSendSlot = createSendRateLimiter(database)
  takeTurnElsewhere = createSendRateLimiter(second)
})

afterAll(async () => {
  await second.close()
  await database.drop()
})

/** A number whose time nobody has spoken for yet. */
const newNumber = () => ({ organizationId: newId(), phoneNumberId: newId() })

type RateLimitedChannel = ReturnType<typeof newNumber>

function take(
  { organizationId, phoneNumberId }: RateLimitedChannel,
  messagesPerSecond: number,
  count: number,
  pacer = reserveSendSlot,
): Promise<SendSlot[]> {
  return Promise.all(Array.from({ length: count }, () => pacer(organizationId, { phoneNumberId, messagesPerSecond })))
}

/** Sets until when the number's time is spoken for, in seconds from now. */
async function speakFor({ organizationId, phoneNumberId }: RateLimitedChannel, seconds: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO sending_paces (organization_id, phone_number_id, paced_until)
     VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
     ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET paced_until = excluded.paced_until`,
    [organizationId, phoneNumberId, seconds],
  )
}

/** Until when the number's time is spoken for, in microseconds; null where nobody ever did. */
async function spokenFor({ organizationId, phoneNumberId }: RateLimitedChannel): Promise<number | null> {
  const { rows } = await database.pool.query<{ until: string }>(
    `SELECT (extract(epoch FROM paced_until) * 1000000)::bigint::text AS until FROM sending_paces
     WHERE organization_id = $1 AND phone_number_id = $2`,
    [organizationId, phoneNumberId],
  )
  return rows[0] ? Number(rows[0].until) : null
}

const waits = (turns: SendSlot[]) => turns.map(({ waitMs }) => waitMs)
const granted = (turns: SendSlot[]) => turns.filter((slot) => slot.reserved).length

describe('the turns of a number', () => {
  it('lie evenly: the first at once, each of the others an interval later', async () => {
    const turns = await take(newNumber(), 80, 100)
    expect(granted(turns)).toBe(100)
    expect(waits(turns)).toEqual(turns.map((_, index) => Math.ceil(index * 12.5)))
  })

  it.each([
    [1, 5],
    [2, 10],
    [80, 400],
    [10_000, 1_000],
  ])(
    'at %i a second: those of the next 5 s are given at once, and no batch is larger than 1,000',
    async (rate, count) => {
      const turns = await take(newNumber(), rate, count)
      expect(granted(turns)).toBe(count)
      expect(waits(turns)).toEqual(turns.map((_, index) => Math.ceil(index * (1_000 / rate))))
    },
  )

  it('beyond that are refused, told when they would have come', async () => {
    const number = newNumber()
    const turns = await take(number, 1, 8)
    expect(turns.map((slot) => slot.reserved)).toEqual([true, true, true, true, true, false, false, false])
    expect(waits(turns)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000])
  })

  it('that are refused cost the number nothing', async () => {
    const [asked, other] = [newNumber(), newNumber()]
    await speakFor(asked, 60)
    const before = await spokenFor(asked)
    const turns = await take(asked, 1, 3)
    expect(granted(turns)).toBe(0)
    for (const { waitMs } of turns) expect(waitMs).toBeGreaterThan(5_000)
    expect(await spokenFor(asked)).toBe(before)
    expect(await take(other, 1, 1)).toEqual([{ granted: true, waitMs: 0 }])
  })

  it('follow those that were given before', async () => {
    const number = newNumber()
    await take(number, 1, 3)
    const before = (await spokenFor(number)) as number
    const [next, afterNext] = await take(number, 1, 2)
    expect(next?.reserved).toBe(true)
    expect(next?.waitMs).toBeGreaterThan(0)
    expect((afterNext?.waitMs ?? 0) - (next?.waitMs ?? 0)).toBe(1_000)
    expect(await spokenFor(number)).toBe(before + 2_000_000)
  })

  it('begin now where nobody sent for a while: what was not used is not made up for', async () => {
    const number = newNumber()
    await speakFor(number, -3_600)
    expect(waits(await take(number, 10, 4))).toEqual([0, 100, 200, 300])
  })

  it('change their interval with the rate', async () => {
    const number = newNumber()
    await speakFor(number, -1)
    expect(waits(await take(number, 10, 3))).toEqual([0, 100, 200])
    await speakFor(number, -1)
    expect(waits(await take(number, 20, 3))).toEqual([0, 50, 100])
  })
})

describe('two processes', () => {
  it('share the time of a number', async () => {
    const number = newNumber()
    expect(granted(await take(number, 1, 5))).toBe(5)
    const [elsewhere] = await take(number, 1, 1, takeTurnElsewhere)
    expect(elsewhere?.waitMs).toBeGreaterThan(0)
  })

  it('are given no moment twice', async () => {
    const number = newNumber()
    await speakFor(number, 4)
    const before = (await spokenFor(number)) as number
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => take(number, 100, 1, index % 2 ? reserveSendSlot : takeTurnElsewhere)),
    )
    expect(granted(answers.flat())).toBe(40)
    expect(await spokenFor(number)).toBe(before + 40 * 10_000)
  })

  it('speak for time in the database one after the other', async () => {
    const { organizationId, phoneNumberId } = newNumber()
    await speakFor({ organizationId, phoneNumberId }, 30)
    const before = (await spokenFor({ organizationId, phoneNumberId })) as number
    const pace = { durationMs: 12.5, maxWaitMs: 60_000 }
    const reserved = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        reserveSendTime(index % 2 ? database : second, organizationId, phoneNumberId, pace),
      ),
    )
    expect(reserved.every((one) => one.reserved)).toBe(true)
    expect(await spokenFor({ organizationId, phoneNumberId })).toBe(before + 50 * 12_500)
  })
})

describe('who has a pace of its own', () => {
  it('another number, and the same number of another organization', async () => {
    const number = newNumber()
    await speakFor(number, 60)
    expect(granted(await take(number, 1, 1))).toBe(0)
    for (const one of [
      { ...number, phoneNumberId: newId() },
      { ...number, organizationId: newId() },
    ]) {
      expect(await take(one, 1, 1)).toEqual([{ granted: true, waitMs: 0 }])
    }
  })

  it('0 a second: as many as come, and nothing is spoken for', async () => {
    const number = newNumber()
    const turns = await take(number, 0, 500)
    expect(turns).toEqual(turns.map(() => ({ granted: true, waitMs: 0 })))
    expect(await spokenFor(number)).toBeNull()
  })
})
