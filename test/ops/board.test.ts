import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../support/contacts.js'
import { until } from '../support/until.js'
import { closeEndpoints, startEndpoint } from '../support/webhook-endpoints.js'
import { startWorld, type TestOrganization, type World } from '../support/world.js'
import { hasPrometheus, type Prometheus, startPrometheus } from './prometheus.js'

const PHONE_NUMBER = '+5511987654321'

interface Panel {
  title: string
  targets?: { expr: string }[]
}

const board = JSON.parse(await readFile('ops/grafana/parley.json', 'utf8')) as { panels: Panel[] }
const queries = board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
const alerts = await readFile('ops/alerts.yml', 'utf8')
const monitoring = await readFile('docs/monitoring.md', 'utf8')

let world: World
let organization: TestOrganization
let prometheus: Prometheus

describe.skipIf(!hasPrometheus)('with Prometheus, a service under a little traffic', () => {
  beforeAll(async () => {
    world = await startWorld()
    organization = await world.createOrganization()
    await startEndpoint(world, organization)
    await createContact(world, organization, PHONE_NUMBER)
    prometheus = await startPrometheus([world.app.url])
  })

  afterAll(async () => {
    await prometheus.stop()
    await closeEndpoints()
    await world.close()
  })

  it('has data for every query of the board, and for every metric of the alerts', async () => {
    const missing = { queries, names: metricsIn(alerts) }
    await until(async () => {
      await work()
      const values = await Promise.all(missing.queries.map(({ expr }) => prometheus.query(substitute(expr))))
      missing.queries = missing.queries.filter((_, index) => !values[index]?.some((value) => !Number.isNaN(value)))
      const names = await prometheus.names()
      missing.names = missing.names.filter((name) => !names.has(name))
      return missing.queries.length + missing.names.length === 0
    }).catch(() => undefined)
    expect(missing).toEqual({ queries: [], names: [] })
  })

  it('has each of its metrics in the docs, and the docs have no others', async () => {
    const { body } = await world.request('GET', '/metrics')
    const shown = [...(body as string).matchAll(/^# TYPE (parley_\w+)/gm)].map(([, name = '']) => name)
    const listed = [...monitoring.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => metricsIn(names))
    expect(listed.filter((name) => name.startsWith('parley_')).sort()).toEqual(shown.sort())
  })
})

/** A send, its callbacks, and the webhooks about them. */
async function work(): Promise<void> {
  const body = { phone_number: PHONE_NUMBER, message_type: 'text', text: 'Hello' }
  await world.request('POST', '/send-chat', { key: organization.key, body })
  await world.settle()
}

/** As Grafana does it. */
function substitute(expression: string): string {
  return expression.replaceAll('$job', 'parley').replaceAll('$__rate_interval', '5m')
}

function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:parley|nodejs|process)_[a-z0-9_]+\b/g))]
}
