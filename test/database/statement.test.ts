import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type AnyStatement, organizationsOf } from '../../src/database/statement.js'
import { loadStatements } from '../support/statements.js'

it('statements that insert events declare it, and no others do', async () => {
  const statements = await loadStatements()
  const inserting = statements.filter(({ text }) => /\b(into|merge)\s+(only\s+)?("?public"?\.)?"?events\b/i.test(text))
  expect(inserting.length).toBeGreaterThan(15)
  expect(namesOf(statements.filter(({ raises }) => raises === 'events'))).toEqual(namesOf(inserting))
})

describe('organizationsOf', () => {
  it('returns each organization of a shared statement once', () => {
    const [one, other] = [randomUUID(), randomUUID()]
    expect(organizationsOf([one, other, one].map((organizationId) => ({ organizationId })))).toEqual([one, other])
  })
})

function namesOf(some: readonly AnyStatement<unknown>[]): string[] {
  return some.map(({ name }) => name).sort()
}
