import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { measureUpstream } from '../../src/http/metrics.js'
import { packageVersion } from '../../src/lib/files/package-version.js'
import { createContact } from '../support/contacts.js'
import { useOrganization, useWorld } from '../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

const metrics = async () => (await world.request('GET', '/metrics')).body as string

describe('the metrics', () => {
  it('count the sends and measure the calls to the upstream', async () => {
    const phone_number = '+5511987654321'
    await createContact(world, organization, phone_number)
    await world.request('POST', '/send-chat', {
      key: organization.key,
      body: { phone_number, message_type: 'text', text: 'Hello' },
    })
    const body = await metrics()
    expect(body).toMatch(/^parley_upstream_sends_total\{outcome="\w+",code="\w+"\} 1$/m)
    expect(body).toMatch(/^parley_upstream_request_duration_seconds_count\{call="send",outcome="\w+"\} 1$/m)
  })

  it('tell the processes by version, and the leases of linked devices', async () => {
    const body = await metrics()
    expect(body).toContain(`parley_processes{version="${packageVersion}"} 1`)
    expect(body).toMatch(/^parley_linked_devices_held 0$/m)
    expect(body).toMatch(/^parley_linked_devices_unheld 0$/m)
  })
})

describe('the codes of sends', () => {
  it('are bounded, whatever a server answers', async () => {
    const registry = new Registry()
    const observe = measureUpstream(registry)
    for (let code = 1_000_000; code < 1_001_000; code++) {
      observe({ call: 'send', outcome: 'refused', code, seconds: 0.1 })
    }
    observe({ call: 'send', outcome: 'refused', code: 131_047, seconds: 0.1 })
    observe({ call: 'send', outcome: 'accepted', code: null, seconds: 0.1 })
    const text = await registry.getSingleMetricAsString('parley_upstream_sends_total')
    expect(text.split('\n').filter((line) => line.startsWith('parley_'))).toEqual([
      'parley_upstream_sends_total{outcome="refused",code="other"} 1000',
      'parley_upstream_sends_total{outcome="refused",code="131047"} 1',
      'parley_upstream_sends_total{outcome="accepted",code="none"} 1',
    ])
  })
})
