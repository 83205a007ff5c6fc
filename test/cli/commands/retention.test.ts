import { beforeAll, describe, expect, it } from 'vitest'
import { startRecurringJobs } from '../../../src/storage/jobs/queue.js'
import { besideService, type Result, run } from '../../support/cli.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages } from '../../support/conversations.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = besideService(world.database.connection)
  organization = await world.createOrganization({ message_retention_days: 60 })
  const contactId = await createContact(world, organization, '+16505551001')
  await insertMessages(world, contactId, ['old', 'young'])
  await world.database.pool.query(
    `UPDATE messages SET recorded_at = now() - interval '50 days' WHERE contact_id = $1 AND text = 'old'`,
    [contactId],
  )
})

function preview(...args: string[]): Promise<Result> {
  return run(['retention', 'preview', ...args], env)
}

describe('retention run', () => {
  it('makes the daily deletion due now, once a worker has run', async () => {
    await world.database.pool.query(`DELETE FROM jobs WHERE task = 'prune'`)
    expect(await run(['retention', 'run'], env)).toMatchObject({ code: 1, err: expect.stringContaining('No worker') })
    await startRecurringJobs(world.database, ['prune'])
    const isDue = async () =>
      (await world.database.pool.query(`SELECT run_at <= now() AS due FROM jobs WHERE task = 'prune'`)).rows
    await world.database.pool.query(`UPDATE jobs SET run_at = now() + interval '1 day' WHERE task = 'prune'`)
    expect(await isDue()).toEqual([{ due: false }])
    expect(await run(['retention', 'run'], env)).toMatchObject({ code: 0, out: expect.stringContaining('begin') })
    expect(await isDue()).toEqual([{ due: true }])
    await world.database.pool.query(`DELETE FROM jobs WHERE task = 'prune'`)
  })
})

describe('retention preview', () => {
  it('shows what would go with the days that are set, and with others', async () => {
    const rows = async (...args: string[]) => {
      const shown = await preview(organization.slug, '--json', ...args)
      expect(shown).toMatchObject({ code: 0, err: '' })
      const kinds = shown.json() as { kind: string; rows: number; days: number | null }[]
      return kinds.find(({ kind }) => kind === 'messages')
    }
    expect(await rows()).toMatchObject({ organization: organization.slug, days: 60, rows: 0 })
    expect(await rows('--message-retention', '40')).toMatchObject({ days: 40, rows: 1, rows_are: 'exact' })
    expect(await rows('--message-retention', 'off')).toMatchObject({ days: null, rows: 0 })
  })

  it('prints a table', async () => {
    const { out } = await preview(organization.id, '--message-retention', '40')
    expect(out).toMatch(/^organization +kind +days +rows +bytes +oldest$/m)
    expect(out).toMatch(/ messages +40 +1 +about \d+ +2\S+Z$/m)
  })

  it('shows all organizations, and notes legal holds', async () => {
    const other = await world.createOrganization()
    await world.admin('PUT', `/organizations/${other.id}/hold`, { reason: 'Case 12' })
    const all = await preview('--all')
    for (const { slug } of [organization, other]) expect(all.out).toContain(slug)
    expect(all.err).toBe(`A legal hold is on "${other.slug}": nothing of it is deleted\n`)
  })

  it.each([
    [[], /Name an organization, or give --all/],
    [['--all', 'x'], /Name an organization, or give --all/],
    [['x', '--message-retention', '0'], /--message-retention must be a whole number from 1 to 3650/],
  ])('ends with 2 for %j', async (args, complaint) => {
    const refused = await preview(...args)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
  })

  it('ends with 1 for an unknown organization', async () => {
    expect(await preview('nowhere')).toMatchObject({ code: 1, out: '' })
  })
})
