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
let reserveElsewhere: ReserveSendSlot

beforeAll(async () => {
  database = await createTestDatabase()
  second = openDatabase(database.connection, 4, () => undefined)
  reserveSendSlot = createSendRateLimiter(database)
  reserveElsewhere = createSendRateLimiter(second)
})

afterAll(async () => {
  await second.close()
  await database.drop()
})

/** A number without reservations. */
const newNumber = () => ({ organizationId: newId(), phoneNumberId: newId() })

type TestNumber = ReturnType<typeof newNumber>

function take(
  { organizationId, phoneNumberId }: TestNumber,
  messagesPerSecond: number,
  count: number,
  reserve = reserveSendSlot,
): Promise<SendSlot[]> {
  return Promise.all(Array.from({ length: count }, () => reserve(organizationId, { phoneNumberId, messagesPerSecond })))
}

/** Sets the end of the number's reservations, in seconds from now. */
async function setReservedUntil({ organizationId, phoneNumberId }: TestNumber, seconds: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO sending_paces (organization_id, phone_number_id, paced_until)
     VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
     ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET paced_until = excluded.paced_until`,
    [organizationId, phoneNumberId, seconds],
  )
}

/** The end of the number's reservations in microseconds; null if there never were any. */
async function reservedUntil({ organizationId, phoneNumberId }: TestNumber): Promise<number | null> {
  const { rows } = await database.pool.query<{ until: string }>(
    `SELECT (extract(epoch FROM paced_until) * 1000000)::bigint::text AS until FROM sending_paces
     WHERE organization_id = $1 AND phone_number_id = $2`,
    [organizationId, phoneNumberId],
  )
  return rows[0] ? Number(rows[0].until) : null
}

const waits = (slots: SendSlot[]) => slots.map(({ waitMs }) => waitMs)
const countReserved = (slots: SendSlot[]) => slots.filter((slot) => slot.reserved).length

describe('the send slots of a number', () => {
  it('are evenly spaced, the first at once', async () => {
    const slots = await take(newNumber(), 80, 100)
    expect(countReserved(slots)).toBe(100)
    expect(waits(slots)).toEqual(slots.map((_, index) => Math.ceil(index * 12.5)))
  })

  it.each([
    [1, 5],
    [2, 10],
    [80, 400],
    [10_000, 1_000],
  ])('for the next 5 s are reserved at once at %i a second, at most 1,000 per batch', async (rate, count) => {
    const slots = await take(newNumber(), rate, count)
    expect(countReserved(slots)).toBe(count)
    expect(waits(slots)).toEqual(slots.map((_, index) => Math.ceil(index * (1_000 / rate))))
  })

  it('beyond the deadline are refused with the time at which they would start', async () => {
    const number = newNumber()
    const slots = await take(number, 1, 8)
    expect(slots.map((slot) => slot.reserved)).toEqual([true, true, true, true, true, false, false, false])
    expect(waits(slots)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000])
  })

  it('are not used up by refused requests', async () => {
    const [asked, other] = [newNumber(), newNumber()]
    await setReservedUntil(asked, 60)
    const before = await reservedUntil(asked)
    const slots = await take(asked, 1, 3)
    expect(countReserved(slots)).toBe(0)
    for (const { waitMs } of slots) expect(waitMs).toBeGreaterThan(5_000)
    expect(await reservedUntil(asked)).toBe(before)
    expect(await take(other, 1, 1)).toEqual([{ reserved: true, waitMs: 0 }])
  })

  it('follow the earlier reservations', async () => {
    const number = newNumber()
    await take(number, 1, 3)
    const before = (await reservedUntil(number)) as number
    const [next, afterNext] = await take(number, 1, 2)
    expect(next?.reserved).toBe(true)
    expect(next?.waitMs).toBeGreaterThan(0)
    expect((afterNext?.waitMs ?? 0) - (next?.waitMs ?? 0)).toBe(1_000)
    expect(await reservedUntil(number)).toBe(before + 2_000_000)
  })

  it('start now after a pause: unused slots are lost', async () => {
    const number = newNumber()
    await setReservedUntil(number, -3_600)
    expect(waits(await take(number, 10, 4))).toEqual([0, 100, 200, 300])
  })

  it('start now if the clock of the database was hours ahead at the last reservation', async () => {
    const number = newNumber()
    await setReservedUntil(number, 7_200)
    expect(await take(number, 10, 2)).toEqual([
      { reserved: true, waitMs: 0 },
      { reserved: true, waitMs: 100 },
    ])
  })

  it('change their interval with the rate', async () => {
    const number = newNumber()
    await setReservedUntil(number, -1)
    expect(waits(await take(number, 10, 3))).toEqual([0, 100, 200])
    await setReservedUntil(number, -1)
    expect(waits(await take(number, 20, 3))).toEqual([0, 50, 100])
  })
})

describe('two processes', () => {
  it('share the slots of a number', async () => {
    const number = newNumber()
    expect(countReserved(await take(number, 1, 5))).toBe(5)
    const [elsewhere] = await take(number, 1, 1, reserveElsewhere)
    expect(elsewhere?.waitMs).toBeGreaterThan(0)
  })

  it('never reserve the same slot', async () => {
    const number = newNumber()
    await setReservedUntil(number, 4)
    const before = (await reservedUntil(number)) as number
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => take(number, 100, 1, index % 2 ? reserveSendSlot : reserveElsewhere)),
    )
    expect(countReserved(answers.flat())).toBe(40)
    expect(await reservedUntil(number)).toBe(before + 40 * 10_000)
  })

  it('reserve in the database one after the other', async () => {
    const { organizationId, phoneNumberId } = newNumber()
    await setReservedUntil({ organizationId, phoneNumberId }, 30)
    const before = (await reservedUntil({ organizationId, phoneNumberId })) as number
    const span = { durationMs: 12.5, maxWaitMs: 60_000 }
    const reserved = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        reserveSendTime(index % 2 ? database : second, organizationId, phoneNumberId, span),
      ),
    )
    expect(reserved.every((one) => one.reserved)).toBe(true)
    expect(await reservedUntil({ organizationId, phoneNumberId })).toBe(before + 50 * 12_500)
  })
})

describe('separate limits', () => {
  it('apply to another number, and to the same number of another organization', async () => {
    const number = newNumber()
    await setReservedUntil(number, 60)
    expect(countReserved(await take(number, 1, 1))).toBe(0)
    for (const one of [
      { ...number, phoneNumberId: newId() },
      { ...number, organizationId: newId() },
    ]) {
      expect(await take(one, 1, 1)).toEqual([{ reserved: true, waitMs: 0 }])
    }
  })

  it('of 0 a second mean unlimited, without reservations', async () => {
    const number = newNumber()
    const slots = await take(number, 0, 500)
    expect(slots).toEqual(slots.map(() => ({ reserved: true, waitMs: 0 })))
    expect(await reservedUntil(number)).toBeNull()
  })
})
