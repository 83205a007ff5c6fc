import { beforeEach, describe, expect, it } from 'vitest'
import { applyTemplateChanges, readTemplateChanges } from '../../../src/core/templates/changes.js'
import {
  scheduleTemplateSyncs,
  syncTemplates,
  syncTemplatesAsJob,
  type TemplateList,
} from '../../../src/core/templates/sync.js'
import { chooseTemplate } from '../../../src/core/templates/templates.js'
import { newId } from '../../../src/lib/bytes/id.js'
import type { Again } from '../../../src/model/jobs.js'
import type { Tenant } from '../../../src/model/organizations/organization.js'
import type { Problem } from '../../../src/model/problem.js'
import { findTenantsById } from '../../../src/storage/organizations/organizations.js'
import { putTemplates } from '../../../src/storage/templates/templates.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let tenant: Tenant

beforeEach(async () => {
  organization = await world.createOrganization({ language: 'pt_BR' })
  const tenants = await findTenantsById(world.database, [organization.id])
  tenant = tenants.get(organization.id) as Tenant
  await clear()
})

const account = () => ({ phone_number_id: organization.phoneNumberId })
const clear = () => world.sim('DELETE', '/templates', account())
const components = [{ type: 'BODY', text: 'Oi' }]

async function put(name: string, language: string, status = 'APPROVED') {
  const template = { name, language, status, category: 'MARKETING', components }
  expect((await world.sim('PUT', '/templates', { ...account(), template })).status).toBe(200)
}

const choose = (name: string, language?: string) => chooseTemplate(world.app.ctx, tenant, name, language)
const refusalOf = (name: string, language?: string): Promise<Problem> =>
  choose(name, language).then(
    () => Promise.reject(new Error('it was found')),
    (problem: Problem) => problem,
  )

describe('the language of a template', () => {
  it.each<[string, string[], string | undefined, string]>([
    ["the organization's", ['en', 'pt_BR', 'es'], undefined, 'pt_BR'],
    ['the only one', ['es'], undefined, 'es'],
    ['the first by name', ['fr', 'es', 'it'], undefined, 'es'],
    ['the requested one', ['en', 'pt_BR'], 'en', 'en'],
    ['the requested one, in any spelling', ['en', 'pt_BR'], 'PT-br', 'pt_BR'],
  ])('resolves to %s', async (_which, languages, asked, expected) => {
    for (const language of languages) await put('promo', language)
    expect((await choose('promo', asked)).language).toBe(expected)
  })

  it('never resolves to an unapproved one', async () => {
    await put('promo', 'pt_BR', 'PAUSED')
    await put('promo', 'es')
    expect((await choose('promo')).language).toBe('es')
    expect(await refusalOf('promo', 'pt_BR')).toMatchObject({
      code: 'template_not_found',
      message: 'The template "promo" is not approved in pt_BR: es is APPROVED, pt_BR is PAUSED',
    })
  })
})

describe('an unknown template', () => {
  it('is looked up at the upstream, at most once a minute', async () => {
    await put('first', 'pt_BR')
    expect((await choose('first')).name).toBe('first')
    await put('second', 'pt_BR')
    expect(await refusalOf('second')).toMatchObject({
      code: 'template_not_found',
      message: 'There is no template "second": approved templates are first',
    })
    world.advance(60_000)
    expect((await choose('second')).name).toBe('second')
  })

  it('is looked up once by concurrent requests', async () => {
    const names = ['a', 'b', 'c']
    for (const name of names) await put(name, 'pt_BR')
    const found = await Promise.all(names.map((name) => choose(name)))
    expect(found.map(({ name }) => name)).toEqual(names)
  })

  it("is refused with the upstream's error if no templates are known", async () => {
    const settings = { ...tenant.upstream, business_account_id: 'nobodys' } as NonNullable<Tenant['upstream']>
    tenant = { ...tenant, upstream: settings }
    expect(await refusalOf('promo')).toMatchObject({ code: 'upstream_credentials' })
  })

  it('is refused for an organization that does not send through the upstream', async () => {
    tenant = { ...tenant, provider: 'gateway' }
    expect(await refusalOf('promo')).toMatchObject({ code: 'invalid_provider' })
  })
})

async function reportedStatuses() {
  const events = await eventsOf(world, organization, 'template.status_changed')
  return events.map(({ data }) => data.template.status)
}

const statusOf = async (name: string) => {
  const { rows } = await world.database.pool.query(
    'SELECT status FROM templates WHERE organization_id = $1 AND name = $2',
    [organization.id, name],
  )
  return rows[0]?.status
}

/** Receives a callback about a template that the upstream's list lacks. */
function tell(event: string): Promise<void> {
  const value = { event, message_template_name: 'promo', message_template_language: 'pt_BR' }
  const body = { entry: [{ changes: [{ field: 'message_template_status_update', value }] }] }
  return applyTemplateChanges(world.app.ctx, organization.id, readTemplateChanges(body))
}

const report = (name: string, event: string) =>
  world.sim('POST', '/templates/status', { ...account(), name, language: 'pt_BR', event })

describe('a template change reported by the upstream', () => {
  beforeEach(async () => {
    await put('promo', 'pt_BR')
    await syncTemplates(world.app.ctx, tenant)
  })

  it('applies even before the list is fetched', async () => {
    await tell('PAUSED')
    expect(await statusOf('promo')).toBe('PAUSED')
    await world.drain()
    expect(await statusOf('promo')).toBe('APPROVED')
    expect(await reportedStatuses()).toEqual(['PAUSED', 'APPROVED'])
  })

  it('changes the status, and raises an event', async () => {
    await report('promo', 'PAUSED')
    await world.settle()
    expect(await statusOf('promo')).toBe('PAUSED')
    await report('promo', 'REINSTATED')
    await world.settle()
    expect(await statusOf('promo')).toBe('APPROVED')
    expect(await reportedStatuses()).toEqual(['PAUSED', 'APPROVED'])
  })

  it('changes no status if it contains none', async () => {
    await report('promo', 'FLAGGED')
    await world.settle()
    expect(await statusOf('promo')).toBe('APPROVED')
    expect(await reportedStatuses()).toEqual([])
  })

  it('triggers a fetch if the template is unknown', async () => {
    await put('fresh', 'pt_BR', 'PENDING')
    await report('fresh', 'APPROVED')
    await world.settle()
    expect(await statusOf('fresh')).toBe('APPROVED')
    expect(await reportedStatuses()).toEqual(['APPROVED'])
  })

  it('applies only to the organization of the business account', async () => {
    const one = organization
    organization = await world.createOrganization()
    await clear()
    await put('promo', 'pt_BR')
    await world.drain()
    await report('promo', 'DISABLED')
    await world.settle()
    expect(await statusOf('promo')).toBe('DISABLED')
    organization = one
    expect(await statusOf('promo')).toBe('APPROVED')
  })
})

describe('jobs that fetch templates', () => {
  it('exist at most once per organization, however often they are requested', async () => {
    await world.drain()
    await scheduleTemplateSyncs(world.app.ctx)
    await scheduleTemplateSyncs(world.app.ctx)
    const { rows } = await world.database.pool.query(
      `SELECT FROM jobs WHERE organization_id = $1 AND task = 'sync_templates'`,
      [organization.id],
    )
    expect(rows).toHaveLength(1)
    await put('promo', 'pt_BR')
    await world.drain()
    expect(await statusOf('promo')).toBe('APPROVED')
  })

  it('skip a list that was fetched after the request', async () => {
    const before = new Date(Date.now() - 60_000)
    await syncTemplates(world.app.ctx, tenant)
    await put('promo', 'pt_BR')
    await syncTemplatesAsJob(world.app.ctx, organization.id, before, null)
    expect(await statusOf('promo')).toBeUndefined()
    await syncTemplatesAsJob(world.app.ctx, organization.id, new Date(Date.now() + 60_000), null)
    expect(await statusOf('promo')).toBe('APPROVED')
  })

  it('keep the result of a callback that arrives while the list is being fetched', async () => {
    await put('promo', 'pt_BR')
    await syncTemplates(world.app.ctx, tenant)
    const { upstream } = world.app.ctx
    const whileListing: typeof upstream = {
      ...upstream,
      listTemplates: async (...asked) => {
        const listed = await upstream.listTemplates(...asked)
        await tell('PAUSED')
        return listed
      },
    }
    await syncTemplates({ ...world.app.ctx, upstream: whileListing }, tenant)
    expect(await statusOf('promo')).toBe('PAUSED')
  })
})

describe('a list that takes longer than a slice', () => {
  const NAMES = ['a', 'b', 'c']
  let asked: (string | null)[]
  let again: Again | null
  let requestedAt: Date

  beforeEach(async () => {
    for (const name of NAMES) await put(name, 'pt_BR')
    await syncTemplates(world.app.ctx, tenant)
    requestedAt = new Date()
    await world.sim('DELETE', '/templates', { ...account(), name: 'b' })
    await put('d', 'pt_BR')
    asked = []
    again = null
  })

  const isKnown = async (name: string) => (await statusOf(name)) !== undefined
  const listOf = (given: Again | null): TemplateList | null => (given?.payload as { list?: TemplateList })?.list ?? null

  /** Runs a slice that reads one template. */
  async function runSlice(list = listOf(again), asOf = requestedAt) {
    const { upstream } = world.app.ctx
    const slowly: typeof upstream = {
      ...upstream,
      listTemplates: async (businessAccount, cursor, timeoutMs) => {
        asked.push(cursor?.after ?? null)
        world.advance(60_000)
        return upstream.listTemplates(businessAccount, cursor ?? { after: null, limit: 1 }, timeoutMs)
      },
    }
    return syncTemplatesAsJob({ ...world.app.ctx, upstream: slowly }, organization.id, asOf, list)
  }

  it('gives its place back, and continues at the next page', async () => {
    for (const _page of ['a', 'c']) {
      again = await runSlice()
      expect(again).toMatchObject({ againInMs: 0 })
      expect(await isKnown('d')).toBe(false)
      expect(await isKnown('b')).toBe(true)
    }
    expect(await runSlice()).toBeNull()
    expect(new Set(asked).size).toBe(3)
    expect(await isKnown('d')).toBe(true)
    expect(await isKnown('b')).toBe(false)
    expect(await reportedStatuses()).toEqual(['APPROVED', 'DELETED'])
  })

  it('continues from the state that is stored in its job', async () => {
    again = await runSlice()
    await scheduleTemplateSyncs(world.app.ctx)
    await world.database.pool.query(
      `UPDATE jobs SET payload = $2 WHERE organization_id = $1 AND task = 'sync_templates'`,
      [organization.id, again?.payload],
    )
    await put('a', 'pt_BR', 'PAUSED')
    await world.drain()
    expect(await isKnown('b')).toBe(false)
    expect(await statusOf('a')).toBe('PAUSED')
  })

  it('is repeated from its last stored state if its process dies, which records nothing twice', async () => {
    again = await runSlice()
    // The process dies before the job is put back.
    await runSlice()
    await runSlice(listOf(await runSlice()))
    expect(asked).toHaveLength(4)
    expect(await isKnown('b')).toBe(false)
    expect(await reportedStatuses()).toEqual(['APPROVED', 'DELETED'])
  })

  it('begins again for another business account', async () => {
    again = await runSlice()
    const list = listOf(again) as TemplateList
    await runSlice({ ...list, businessAccountId: 'former' })
    expect(asked).toEqual([null, null])
  })

  it('does not continue if a later one was completed', async () => {
    again = await runSlice()
    await syncTemplates(world.app.ctx, tenant)
    expect(await runSlice()).toBeNull()
    expect(asked).toEqual([null])
  })

  it('is followed by another one if that is requested between two slices', async () => {
    again = await runSlice()
    again = await runSlice()
    again = await runSlice(listOf(again), new Date())
    expect(again).toEqual({ againInMs: 0, payload: {} })
  })

  it('is given up if it never ends', async () => {
    const list = listOf(await runSlice()) as TemplateList
    await expect(runSlice({ ...list, pages: 400 })).rejects.toMatchObject({
      code: 'upstream_unavailable',
      extras: { details: expect.stringContaining('400 pages') },
    })
  })

  it('is given up if a request cannot wait for its end', async () => {
    await expect(syncTemplates(world.app.ctx, tenant, 0)).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  it('keeps the templates that a callback changed after it began', async () => {
    again = await runSlice()
    await world.database.pool.query(
      `UPDATE templates SET synced_at = now() WHERE organization_id = $1 AND name = 'b'`,
      [organization.id],
    )
    again = await runSlice()
    expect(await runSlice()).toBeNull()
    expect(await isKnown('b')).toBe(true)
  })
})

describe('the quality of a template', () => {
  /** Writes it as a list that is newer than all that is known. */
  const list = (quality: string | null) => {
    const key = { name: 'promo', language: 'pt_BR', upstream_id: '1' }
    const kind = { status: 'APPROVED', category: 'MARKETING', parameter_format: 'POSITIONAL' as const }
    const events = { event_id: newId(), update_event_id: newId(), quality_event_id: newId() }
    const row = { ...key, ...kind, components, status_reason: null, quality, ...events }
    return putTemplates(world.database, organization.id, [row], new Date(Date.now() + 3_600_000))
  }
  const tellQuality = (to: string, time: number) => {
    const named = { message_template_name: 'promo', message_template_language: 'pt_BR' }
    const value = { ...named, previous_quality_score: 'GREEN', new_quality_score: to }
    const body = { entry: [{ time, changes: [{ field: 'message_template_quality_update', value }] }] }
    return applyTemplateChanges(world.app.ctx, organization.id, readTemplateChanges(body))
  }
  const qualities = async () => {
    const events = await eventsOf(world, organization, 'template.quality_changed')
    return events.map(({ data }) => [data.previous_quality, data.quality])
  }

  it('raises an event when a list has another one, but not when it becomes known', async () => {
    for (const quality of [null, 'GREEN', 'GREEN', null, 'YELLOW', 'YELLOW']) await list(quality)
    expect(await qualities()).toEqual([['GREEN', 'YELLOW']])
  })

  it('raises one event if a list is faster than the callback, which also may be older than the list', async () => {
    const now = Math.floor(Date.now() / 1_000)
    for (const quality of ['GREEN', 'YELLOW']) await list(quality)
    await tellQuality('YELLOW', now)
    await tellQuality('RED', now - 3_600)
    expect(await qualities()).toEqual([['GREEN', 'YELLOW']])
  })
})

describe('template changes in a callback', () => {
  const read = (changes: unknown) => readTemplateChanges({ entry: [{ changes }] })
  const named = { message_template_name: 'promo', message_template_language: 'pt_BR' }

  it('are read from the fields about templates', () => {
    const changes = [
      { field: 'message_template_status_update', value: { ...named, event: 'rejected' } },
      { field: 'message_template_components_update', value: named },
      { field: 'template_category_update', value: { ...named, new_category: 'UTILITY' } },
      { field: 'messages', value: { messages: [{ text: { body: 'template' } }] } },
    ]
    expect(read(changes)).toMatchObject([
      { name: 'promo', language: 'pt_BR', status: 'REJECTED' },
      { name: 'promo', language: 'pt_BR', status: null },
      { name: 'promo', language: 'pt_BR', status: null },
    ])
  })

  it.each([
    [{ reason: 'INVALID_FORMAT' }, 'INVALID_FORMAT'],
    [{ reason: 'NONE', other_info: { title: 'FIRST_PAUSE' } }, 'FIRST_PAUSE'],
    [{ reason: 'NONE' }, null],
    [{ reason: { of: 7 } }, null],
  ])('have the reason of %j', (fields, reason) => {
    const value = { ...named, event: 'PAUSED', ...fields }
    expect(read([{ field: 'message_template_status_update', value }])).toMatchObject([{ reason }])
  })

  it.each([
    null,
    'template',
    [7, { field: 'message_template_status_update' }],
    [{ field: 'message_template_status_update', value: { event: 'constructor', message_template_name: 7 } }],
  ])('are read from %j without a failure', (changes) => {
    for (const { status } of read(changes)) expect(status).toBeNull()
  })
})
