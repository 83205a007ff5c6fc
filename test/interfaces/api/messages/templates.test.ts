import { beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const template = (fields: object = {}) => ({
  name: 'promo',
  language: 'pt_BR',
  category: 'MARKETING',
  components: [{ type: 'BODY', text: 'Oi {{name}}' }],
  ...fields,
})

async function put(fields: object = {}, { phoneNumberId } = organization) {
  const body = { phone_number_id: phoneNumberId, template: template(fields) }
  const answer = await world.sim('PUT', '/templates', body)
  expect(answer.status).toBe(200)
}

const clear = ({ phoneNumberId } = organization) =>
  world.sim('DELETE', '/templates', { phone_number_id: phoneNumberId })
const sync = ({ key } = organization) => world.request('POST', '/templates/sync', { key })
const list = async ({ key } = organization) => (await world.request('GET', '/templates', { key })).body.templates
const connect = (fields: object) =>
  world.admin('PUT', `/organizations/${organization.id}/upstream`, {
    phone_number_id: organization.phoneNumberId,
    business_account_id: organization.businessAccountId,
    access_token: 'another',
    app_secret: organization.appSecret,
    verify_token: organization.verifyToken,
    ...fields,
  })

async function reportedStatuses(owner = organization) {
  const events = await eventsOf(world, owner, 'template.status_changed')
  return events.map(({ data }) => `${data.template.name} ${data.template.status}`)
}

describe('POST /templates/sync', () => {
  it('fetches the list of the upstream, and GET /templates returns it unchanged', async () => {
    await clear()
    await put()
    await put({ language: 'en', status: 'PENDING', components: [{ type: 'BODY', text: 'Hi {{1}}' }] })
    const synced = await sync()
    expect(synced.body).toEqual({
      success: true,
      message: '2 templates are known',
      total: 2,
      added: 2,
      changed: 0,
      removed: 0,
      synced_at: expect.stringMatching(/Z$/),
    })
    expect(await list()).toMatchObject([
      {
        ...template(),
        language: 'en',
        status: 'PENDING',
        parameter_format: 'POSITIONAL',
        components: [{ type: 'BODY', text: 'Hi {{1}}' }],
      },
      { ...template(), status: 'APPROVED', parameter_format: 'NAMED' },
    ])
    expect(await reportedStatuses()).toEqual([])
  })

  it('reads more than one page', async () => {
    await clear()
    for (let n = 0; n < 101; n++) await put({ name: `t${String(n).padStart(3, '0')}` })
    expect((await sync()).body).toMatchObject({ total: 101 })
    expect(await list()).toHaveLength(101)
  })

  it('updates changed templates, deletes missing ones, and raises events for statuses', async () => {
    await clear()
    await put()
    await put({ name: 'gone' })
    await sync()
    await put({ status: 'PAUSED' })
    await put({ name: 'fresh' })
    await world.sim('DELETE', '/templates', { phone_number_id: organization.phoneNumberId, name: 'gone' })
    expect((await sync()).body).toMatchObject({ total: 2, added: 1, changed: 1, removed: 1 })
    expect((await list()).map((one: { name: string; status: string }) => [one.name, one.status])).toEqual([
      ['fresh', 'APPROVED'],
      ['promo', 'PAUSED'],
    ])
    expect((await reportedStatuses()).sort()).toEqual(['fresh APPROVED', 'gone DELETED', 'promo PAUSED'])

    await put({ status: 'PAUSED', components: [{ type: 'BODY', text: 'Olá {{name}}' }] })
    expect((await sync()).body).toMatchObject({ changed: 1 })
    expect((await sync()).body).toMatchObject({ total: 2, added: 0, changed: 0, removed: 0 })
    expect(await reportedStatuses()).toHaveLength(3)
  })

  it('deletes the templates of an account that the organization no longer uses', async () => {
    await put()
    await sync()
    await connect({ business_account_id: `${organization.businessAccountId}9` })
    await sync()
    expect((await list()).map(({ name }: { name: string }) => name)).not.toContain('promo')
    expect(await reportedStatuses()).toEqual([])
  })

  it('runs once per Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await world.request('POST', '/templates/sync', { key: organization.key, headers })
    await put({ name: 'fresh' })
    const second = await world.request('POST', '/templates/sync', { key: organization.key, headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })

  it('reports that the upstream refuses the list, and keeps known templates', async () => {
    await put()
    await sync()
    const { id } = organization
    await world.database.pool.query(
      `UPDATE upstream_settings SET business_account_id = '1' WHERE organization_id = $1`,
      [id],
    )
    const refused = await sync()
    expect(refused).toMatchObject({
      status: 400,
      body: { success: false, error: 'Upstream credentials rejected', upstream_code: 100 },
    })
    expect(refused.body.message).toContain('business account 1')
    expect((await list()).map(({ name }: { name: string }) => name)).toContain('promo')
  })
})

describe('the templates of an organization', () => {
  it('are not visible to others', async () => {
    const other = await world.createOrganization()
    await put({ name: 'theirs' }, other)
    await sync(other)
    await sync()
    const names = (templates: { name: string }[]) => templates.map(({ name }) => name)
    expect(names(await list(other))).toContain('theirs')
    expect(names(await list())).not.toContain('theirs')
    const foreign = await world.request('GET', `/templates?tenantId=${other.slug}`, { key: organization.key })
    expect(foreign.status).toBe(401)
  })

  it('are deleted with it', async () => {
    await sync()
    await world.admin('DELETE', `/organizations/${organization.id}`)
    await world.drain()
    const { rows } = await world.database.pool.query('SELECT FROM templates WHERE organization_id = $1', [
      organization.id,
    ])
    expect(rows).toEqual([])
  })

  it('are fetched by a job when it is connected', async () => {
    await world.drain()
    expect((await list()).length).toBeGreaterThan(0)
  })
})

describe.each([
  ['GET', '/templates'],
  ['POST', '/templates/sync'],
])('%s %s', (method, path) => {
  it('refuses an organization that does not send through the upstream', async () => {
    await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' })
    expect(await world.request(method, path, { key: organization.key })).toMatchObject({
      status: 400,
      body: { error: 'Invalid provider', message: expect.stringContaining('gateway') },
    })
  })
})
