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

it('statements that enqueue jobs declare it, and none that write no jobs', async () => {
  const statements = await loadStatements()
  const inserting = statements.filter(({ text }) => /\binsert into jobs\b/i.test(text))
  const declaring = namesOf(statements.filter(({ enqueues }) => enqueues !== null))
  expect(inserting.length).toBeGreaterThan(15)
  expect(declaring).toEqual(expect.arrayContaining(namesOf(inserting)))
  const writing = namesOf(statements.filter(({ text }) => /\b(into|update) jobs\b/i.test(text)))
  expect(writing).toEqual(expect.arrayContaining(declaring))
})

it('statements that store waiting callbacks declare it, and no others do', async () => {
  const statements = await loadStatements()
  const inserting = statements.filter(({ text }) => /\binsert into callbacks\b/i.test(text))
  expect(inserting.length).toBeGreaterThan(0)
  expect(namesOf(statements.filter(({ raises }) => raises === 'callbacks'))).toEqual(namesOf(inserting))
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
