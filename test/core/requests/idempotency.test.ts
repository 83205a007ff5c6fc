import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type IdempotentRequest,
  type KeptAnswer,
  performOnce,
  type RepeatableAnswer,
} from '../../../src/core/requests/idempotency.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { sha256 } from '../../../src/lib/crypto/signature.js'
import { Problem } from '../../../src/model/problem.js'
import { MINUTE, SECOND } from '../../support/webhook-endpoints.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

/** No process has this id: real ids start at 1 and are few. */
const DEAD = 1_000_000
const DONE: RepeatableAnswer = { status: 201, body: { done: true }, final: true }

function request(key: string, work: Partial<IdempotentRequest>): IdempotentRequest {
  const isUnsettled = ({ status }: KeptAnswer) => status >= 500
  const never = () => Promise.reject(new Error('not to be called'))
  return {
    operation: 'POST /contact',
    key,
    bodyHash: sha256('a body'),
    isUnsettled,
    perform: never,
    recover: never,
    ...work,
  }
}

const once = (asked: IdempotentRequest) => performOnce(world.app.ctx, organization.id, asked)

/** The row that a killed process leaves. */
async function leaveBehind(key: string, processId = DEAD): Promise<string> {
  const resourceId = newId()
  await world.database.pool.query(
    `INSERT INTO idempotency_keys (organization_id, operation, key, body_hash, resource_id, process_id, created_at)
     VALUES ($1, 'POST /contact', $2, $3, $4, $5, $6)`,
    [organization.id, key, sha256('a body'), resourceId, processId, world.now()],
  )
  return resourceId
}

describe('a request whose process died', () => {
  it('is answered with its outcome, and the answer is kept', async () => {
    const resourceId = await leaveBehind('recovered')
    const asked: string[] = []
    const recover = async (id: string) => {
      asked.push(id)
      return DONE
    }
    expect(await once(request('recovered', { recover }))).toEqual({
      status: 201,
      body: DONE.body,
      replayed: true,
      resourceId,
    })
    expect(asked).toEqual([resourceId])
    expect(await once(request('recovered', {}))).toEqual({ status: 201, body: DONE.body, replayed: true, resourceId })
  })

  it('runs again under the same id if it had no effect', async () => {
    const resourceId = await leaveBehind('again')
    const performed: string[] = []
    const perform = async (id: string) => {
      performed.push(id)
      return DONE
    }
    const answer = await once(request('again', { recover: async () => null, perform }))
    expect(answer).toMatchObject({ status: 201, replayed: false })
    expect(performed).toEqual([resourceId])
  })

  it('runs again once, however many clients repeat it', async () => {
    await leaveBehind('many')
    let performed = 0
    const perform = async () => {
      performed += 1
      return DONE
    }
    const asked = Array.from({ length: 10 }, () => once(request('many', { recover: async () => null, perform })))
    const settled = await Promise.allSettled(asked)
    expect(performed).toBe(1)
    for (const one of settled) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'request_in_progress' })
      else expect(one.value.body).toEqual(DONE.body)
    }
  })

  describe('while that process lives', () => {
    const ALIVE = DEAD + 1
    let neighbour: PoolClient

    beforeAll(async () => {
      neighbour = await world.database.pool.connect()
      await neighbour.query(
        `SELECT pg_advisory_lock(l.classid::int, $1)
         FROM processes p
         JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 2 AND l.objid = p.id
         WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [ALIVE],
      )
    })

    afterAll(() => neighbour?.release(true))

    it('is left to it for two minutes', async () => {
      await leaveBehind('alive', ALIVE)
      const asked = () => once(request('alive', { recover: async () => DONE }))
      await expect(asked()).rejects.toMatchObject({ code: 'request_in_progress' })
      world.advance(MINUTE)
      await expect(asked()).rejects.toMatchObject({ code: 'request_in_progress' })
      world.advance(MINUTE + SECOND)
      expect(await asked()).toMatchObject({ replayed: true, body: DONE.body })
    })

    it('is left to the process that took it over for two minutes', async () => {
      await leaveBehind('taken over', ALIVE)
      world.advance(3 * MINUTE)
      const recover = async () => {
        const { rows } = await world.database.pool.query(
          `SELECT process_id, created_at > $1::timestamptz - interval '2 minutes' AS is_new FROM idempotency_keys WHERE key = 'taken over'`,
          [world.now()],
        )
        expect(rows).toEqual([{ process_id: world.app.ctx.processId, is_new: true }])
        return DONE
      }
      expect(await once(request('taken over', { recover }))).toMatchObject({ replayed: true })
    })

    it('leaves the same key of another organization alone', async () => {
      await leaveBehind('of both', ALIVE)
      world.advance(3 * MINUTE)
      const theirs = await performOnce(world.app.ctx, other.id, request('of both', { perform: async () => DONE }))
      expect(theirs.replayed).toBe(false)
      expect(await once(request('of both', { recover: async () => DONE }))).toMatchObject({ replayed: true })
    })
  })
})

describe('POST /contact after a process died', () => {
  const post = (key: string, phone_number: string) =>
    world.request('POST', '/contact', {
      key: organization.key,
      headers: { 'idempotency-key': key },
      body: { phone_number },
    })

  /** Restores the key's state before the answer was stored. */
  const forget = (key: string) =>
    world.database.pool.query(
      'UPDATE idempotency_keys SET status = NULL, answer = NULL, process_id = $2 WHERE key = $1',
      [key, DEAD],
    )

  it('answers 201 with the contact that was created', async () => {
    const first = await post('made', '5511987651000')
    await forget('made')
    const again = await post('made', '5511987651000')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
  })

  it('answers 201 with a new contact if none was created', async () => {
    const first = await post('not-made', '5511987651001')
    await world.database.pool.query('DELETE FROM contacts WHERE id = $1', [first.body.contact.id])
    await forget('not-made')
    const again = await post('not-made', '5511987651001')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(again.body.contact.id).toBe(first.body.contact.id)
  })
})

describe('a failed request', () => {
  it('frees the key after a refusal', async () => {
    const refuse = () => Promise.reject(new Problem('contact_exists', 'there is one'))
    await expect(once(request('refused', { perform: refuse }))).rejects.toMatchObject({ code: 'contact_exists' })
    expect(await once(request('refused', { perform: async () => DONE }))).toMatchObject({ replayed: false })
  })

  it('is checked for effects before it runs again after an unexpected failure', async () => {
    const fail = () => Promise.reject(new Error('after the message had been sent'))
    await expect(once(request('failed', { perform: fail }))).rejects.toThrow('after the message had been sent')
    const answer = await once(request('failed', { recover: async () => DONE }))
    expect(answer).toEqual({ status: 201, body: DONE.body, replayed: true, resourceId: expect.any(String) })
  })

  it('without a final result frees the key', async () => {
    const tryAgain = async () => ({ status: 500, body: {}, final: false })
    expect(await once(request('not final', { perform: tryAgain }))).toMatchObject({ status: 500, replayed: false })
    expect(await once(request('not final', { perform: async () => DONE }))).toMatchObject({ replayed: false })
  })
})

describe('an answer with a secret', () => {
  it('is kept encrypted, and returned unchanged', async () => {
    const told: RepeatableAnswer = { status: 201, body: { secret: 'whsec_of-the-test' }, final: true }
    const asked = request('sealed', { isSecret: true, perform: async () => told })
    expect(await once(asked)).toMatchObject({ body: told.body, replayed: false })
    expect(await once(asked)).toEqual({ status: 201, body: told.body, replayed: true, resourceId: expect.any(String) })
    const { rows } = await world.database.pool.query(
      `SELECT answer::text FROM idempotency_keys WHERE key = 'sealed' AND answer IS NOT NULL`,
    )
    expect(rows).toHaveLength(1)
    expect(rows[0].answer).not.toContain('whsec_of-the-test')
  })
})

describe('an unknown outcome', () => {
  it('is returned as unknown until it is known, and then with its final result', async () => {
    const unknown: RepeatableAnswer = { status: 500, body: { error: 'Outcome unknown' }, final: true }
    await once(request('unknown', { perform: async () => unknown }))
    const still = await once(request('unknown', { recover: async () => unknown }))
    expect(still).toEqual({ status: 500, body: unknown.body, replayed: true, resourceId: expect.any(String) })
    const settled = await once(request('unknown', { recover: async () => DONE }))
    expect(settled).toEqual({ status: 201, body: DONE.body, replayed: true, resourceId: expect.any(String) })
    expect(await once(request('unknown', {}))).toEqual({
      status: 201,
      body: DONE.body,
      replayed: true,
      resourceId: expect.any(String),
    })
  })
})
