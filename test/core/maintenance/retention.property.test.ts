import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyRetention } from '../../../src/core/maintenance/retention.js'
import { verifyDatabase } from '../../../src/core/maintenance/verify.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages } from '../../support/conversations.js'
import { messageRows } from '../../support/rows/messages.js'
import { TIMES } from '../../support/times.js'
import { useWorld } from '../../support/world.js'

const KEPT_DAYS = 30
const PEOPLE = 3

const world = useWorld()

interface Spoken {
  text: string
  age: number
  isOutstanding: boolean
}

const person = fc.nat(PEOPLE - 1)
const step = fc.oneof(
  fc.record({ verb: fc.constant('speak' as const), person, count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ verb: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 25 }) }),
  fc.record({ verb: fc.constant('leave outstanding' as const), person, place: fc.nat(8) }),
  fc.record({ verb: fc.constant('settle' as const) }),
  fc.record({ verb: fc.constant('prune' as const) }),
)

it('conversations lose their beginning up to the first message that is kept, whatever happens in which order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const organization = await world.createOrganization({ message_retention_days: KEPT_DAYS })
      const ids: string[] = []
      for (let n = 0; n < PEOPLE; n++) ids.push(await createContact(world, organization, `+1650555100${n}`))
      const expected: Spoken[][] = ids.map(() => [])
      const change = (set: string, where = 'true', values: unknown[] = []) =>
        world.database.pool.query(`UPDATE messages SET ${set} WHERE organization_id = $1 AND ${where}`, [
          organization.id,
          ...values,
        ])
      let spoken = 0
      for (const one of [...steps, { verb: 'prune' as const }]) {
        switch (one.verb) {
          case 'speak': {
            const texts = Array.from({ length: one.count }, () => String(++spoken))
            await insertMessages(world, ids[one.person] as string, texts)
            expected[one.person]?.push(...texts.map((text) => ({ text, age: 0, isOutstanding: false })))
            break
          }
          case 'wait':
            await change(`recorded_at = recorded_at - interval '${one.days} days'`)
            for (const message of expected.flat()) message.age += one.days
            break
          case 'leave outstanding': {
            const message = expected[one.person]?.[one.place]
            if (!message) break
            message.isOutstanding = true
            await change("outcome = 'unknown'", 'text = $2', [message.text])
            break
          }
          case 'settle':
            await change('outcome = NULL')
            for (const message of expected.flat()) message.isOutstanding = false
            break
          case 'prune':
            expect(await applyRetention(world.app.ctx, organization.id, {})).toBeNull()
            for (const messages of expected) {
              const kept = messages.findIndex(({ age, isOutstanding }) => age < KEPT_DAYS || isOutstanding)
              messages.splice(0, kept === -1 ? messages.length : kept)
            }
        }
      }
      for (const [n, id] of ids.entries()) {
        const left = await messageRows(world, { organization_id: organization.id, contact_id: id })
        expect(left.map(({ text }) => text)).toEqual(expected[n]?.map(({ text }) => text))
      }
      const violations: unknown[] = []
      const ignore = () => undefined
      await verifyDatabase({ ...world.app.ctx, blobs: null }, organization, {
        begins: ignore,
        read: ignore,
        note: ignore,
        violation: (one) => violations.push(one),
      })
      expect(violations).toEqual([])
    }),
    { numRuns: 30 * TIMES },
  )
})
