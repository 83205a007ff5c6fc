import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { applyTemplateChanges, readTemplateChanges } from '../../../src/core/templates/changes.js'
import { scheduleTemplateSyncs, syncTemplates, syncTemplatesAsJob } from '../../../src/core/templates/sync.js'
import { chooseTemplate } from '../../../src/core/templates/templates.js'
import type { Tenant } from '../../../src/model/organizations/organization.js'
import type { Problem } from '../../../src/model/problem.js'
import { findTenantsById } from '../../../src/storage/organizations/organizations.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

let world: World
let organization: TestOrganization
let tenant: Tenant

beforeAll(async () => {
  world = await startWorld()
})

beforeEach(async () => {
  organization = await world.createOrganization({ language: 'pt_BR' })
  const tenants = await findTenantsById(world.database, [organization.id])
  tenant = tenants.get(organization.id) as Tenant
  await clear()
})

afterAll(() => world.close())

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

async function eventsOf() {
  const { rows } = await world.database.pool.query(
    `SELECT data FROM events WHERE organization_id = $1 AND type = 'template.status_changed' ORDER BY seq`,
    [organization.id],
  )
  return rows.map(({ data }) => data.template.status)
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
    expect(await eventsOf()).toEqual(['PAUSED', 'APPROVED'])
  })

  it('changes the status, and raises an event', async () => {
    await report('promo', 'PAUSED')
    await world.settle()
    expect(await statusOf('promo')).toBe('PAUSED')
    await report('promo', 'REINSTATED')
    await world.settle()
    expect(await statusOf('promo')).toBe('APPROVED')
    expect(await eventsOf()).toEqual(['PAUSED', 'APPROVED'])
  })

  it('changes no status if it contains none', async () => {
    await report('promo', 'FLAGGED')
    await world.settle()
    expect(await statusOf('promo')).toBe('APPROVED')
    expect(await eventsOf()).toEqual([])
  })

  it('triggers a fetch if the template is unknown', async () => {
    await put('fresh', 'pt_BR', 'PENDING')
    await report('fresh', 'APPROVED')
    await world.settle()
    expect(await statusOf('fresh')).toBe('APPROVED')
    expect(await eventsOf()).toEqual(['APPROVED'])
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
    await syncTemplatesAsJob(world.app.ctx, organization.id, before)
    expect(await statusOf('promo')).toBeUndefined()
    await syncTemplatesAsJob(world.app.ctx, organization.id, new Date(Date.now() + 60_000))
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
    expect(read(changes)).toEqual([
      { name: 'promo', language: 'pt_BR', status: 'REJECTED' },
      { name: 'promo', language: 'pt_BR', status: null },
      { name: 'promo', language: 'pt_BR', status: null },
    ])
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
