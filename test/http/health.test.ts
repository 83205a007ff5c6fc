import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../support/endpoints.js'
import { operationsOf, readDescription } from '../support/openapi.js'
import { useOrganization, useWorld } from '../support/world.js'

const world = useWorld()
const organization = useOrganization(world, { name: 'A Very Secret Shop' })

describe('GET /healthz', () => {
  it('answers 200 without a key', async () => {
    expect(await world.request('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('GET /readyz', () => {
  it('answers 200 when everything is usable', async () => {
    expect(await world.request('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  })

  it('counts the numbers by state, names none, and stays ready while some fail', async () => {
    const numbers = async () => (await world.request('GET', '/readyz')).body.numbers
    expect(await numbers()).toEqual({ ok: 0, warning: 0, failed: 0, unchecked: 1 })
    await world.database.pool.query(
      "INSERT INTO number_states (organization_id, phone_number_id, state) VALUES ($1, $2, 'failed')",
      [organization.id, organization.phoneNumberId],
    )
    expect(await numbers()).toEqual({ ok: 0, warning: 0, failed: 1, unchecked: 0 })
    await world.database.pool.query('DELETE FROM number_states')
  })

  it('answers 503 naming the migrations when the schema is behind, and 200 once it is current', async () => {
    const { rowCount } = await world.database.pool.query('UPDATE migrations SET version = 9999 WHERE version = 1')
    expect(rowCount).toBe(1)
    const answer = await world.request('GET', '/readyz')
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({
      status: 'not ready',
      problems: { migrations: expect.stringContaining('migrate') },
    })
    expect(Object.keys(answer.body.problems)).toEqual(['migrations'])
    await world.database.pool.query('UPDATE migrations SET version = 1 WHERE version = 9999')
    expect((await world.request('GET', '/readyz')).status).toBe(200)
  })
})

describe('GET /metrics', () => {
  it('contains the histogram of requests by route, and nothing that a tenant sends', async () => {
    const secret = '5511987654321'
    await world.request('GET', `/contact?chat_id=${secret}`, { key: organization.key })
    await world.request('GET', `/${secret}/nothing`)
    await world.request('GET', `/admin/organizations/${organization.id}`, { key: world.adminToken })
    const { status, body, headers } = await world.request('GET', '/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('text/plain')
    expect(body).toContain('# TYPE parley_http_request_duration_seconds histogram')
    expect(body).toMatch(/_count\{route="\/contact",method="GET",status="404",fault_of="service"\} \d+/)
    expect(body).toMatch(
      /_count\{route="\/admin\/organizations\/:id",method="GET",status="200",fault_of="service"\} \d+/,
    )
    expect(body).toMatch(/_count\{route="none",method="GET",status="404",fault_of="service"\} \d+/)
    expect(body).toContain('process_cpu_user_seconds_total')
    for (const value of [secret, organization.id, organization.slug, organization.name, organization.key]) {
      expect(body).not.toContain(value)
    }
  })
})

/** The answers of an endpoint without required parameters or a JSON body. */
const TAKES_OTHERS: Record<string, number> = {
  'GET /contacts/export': 200,
  'POST /contacts/import': 415,
  'GET /opt-outs': 200,
  'GET /opt-outs/export': 200,
  'POST /opt-outs/import': 415,
  'GET /shortlinks': 200,
  'GET /audiences': 200,
  'POST /audiences': 415,
  'GET /audiences/{id}': 404,
  'DELETE /audiences/{id}': 404,
  'GET /broadcasts': 200,
  'GET /templates': 200,
  'POST /templates/sync': 200,
  'GET /broadcasts/{id}': 404,
  'GET /broadcasts/{id}/recipients': 404,
  'POST /broadcasts/{id}/pause': 404,
  'POST /broadcasts/{id}/resume': 404,
  'POST /broadcasts/{id}/cancel': 404,
  'POST /broadcasts/{id}/retry-failed': 404,
  'GET /numbers': 200,
  'GET /get-webhooks': 200,
  'POST /set-webhooks/{id}/rotate-secret': 404,
  'POST /set-webhooks/{id}/enable': 404,
  'POST /set-webhooks/{id}/test': 404,
  'GET /webhook-deliveries': 200,
  'GET /messages/{id}/trace': 404,
  'GET /webhook-deliveries/{id}': 404,
  'POST /webhook-deliveries/{id}/replay': 404,
  'GET /events': 200,
  'GET /scheduled': 200,
  'POST /templates/examples': 415,
  'GET /templates/library': 200,
  'PATCH /scheduled/{id}': 404,
  'DELETE /scheduled/{id}': 404,
}

describe('GET /openapi.json', () => {
  it('is OpenAPI 3.1.0, version 1.0.0, of Interface A alone', async () => {
    const description = await readDescription(world)
    expect([description.openapi, description.info.version]).toEqual(['3.1.0', '1.0.0'])
    expect(
      Object.keys(description.paths).every((path) => !/^\/(admin|gateway|hooks|_sim|docs|media\/|console)/.test(path)),
    ).toBe(true)
  })

  it('describes exactly the existing endpoints, each with its errors', async () => {
    const description = await readDescription(world)
    for (const operation of operationsOf(description)) {
      const [method = '', path = ''] = operation.split(' ')
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const answer = await world.request(method, path, { key: organization.key, body })
      expect({ operation, status: answer.status }).toEqual({ operation, status: TAKES_OTHERS[operation] ?? 400 })
      const documented = Object.keys(description.paths[path]?.[method.toLowerCase()]?.responses ?? {})
      expect(documented).toEqual(expect.arrayContaining(['400', '401', '403', '429', '503']))
    }
    expect(operationsOf(description)).toHaveLength(ENDPOINTS.length)
  })
})

describe('GET /docs', () => {
  it('is a page whose assets load', async () => {
    const page = await world.request('GET', '/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string)
    expect(files.length).toBeGreaterThan(2)
    for (const file of files) {
      const { status } = await world.request('GET', new URL(file, 'http://x/docs').pathname)
      expect({ file, status }).toEqual({ file, status: 200 })
    }
  })

  it('answers 404 in the usual error format for a missing file', async () => {
    const answer = await world.request('GET', '/docs/static/nothing.js')
    expect(answer).toMatchObject({ status: 404, body: { success: false, error: 'Not found' } })
  })
})

describe('GET /', () => {
  it('redirects browsers to the console, and lists the API descriptions for programs', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const page = await world.request('GET', '/', { headers: { accept } })
    expect([page.status, page.headers.get('location')]).toEqual([302, '/console/'])
    const { status, body } = await world.request('GET', '/')
    expect([status, body.docs, body.console]).toEqual([200, '/docs', '/console/'])
    for (const path of [body.docs, ...body.descriptions]) expect((await world.request('GET', path)).status).toBe(200)
  })
})
