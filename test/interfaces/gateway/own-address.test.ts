import { request } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld({ PARLEY_GATEWAY_HOST: 'GW.example.com', PARLEY_GATEWAY_PORT: '0' })
const organization = useOrganization(world)
let port: string

beforeAll(async () => {
  port = world.app.gatewayUrl as string
  const made = await ask(port, '/instance/create', {}, { instanceName: 'shop', integration: 'SANDBOX' })
  expect(made.status).toBe(201)
})

interface Answered {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** Sends a GET, or a POST with a body, with any Host, which fetch does not allow. */
function ask(url: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Answered> {
  const method = body ? 'POST' : 'GET'
  return new Promise((resolve, reject) => {
    const all = { apikey: organization.key, 'content-type': 'application/json', ...headers }
    const sent = request(`${url}${path}`, { method, headers: all }, async (answer) => {
      const parts: Buffer[] = []
      for await (const part of answer) parts.push(part)
      resolve({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) })
    })
    sent.once('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

const ADDRESSES: [string, () => string, Record<string, string>][] = [
  ['the port', () => port, {}],
  ['the host name', () => world.app.url, { host: 'gw.EXAMPLE.com:8443' }],
]

describe.each(ADDRESSES)('%s of the gateway', (_, url, headers) => {
  it('serves the gateway at the root and below /gateway, with and without a trailing slash', async () => {
    for (const path of ['', '/', '/gateway', '/gateway/']) {
      const { status, body } = await ask(url(), path, headers)
      expect([path, status, body.message]).toEqual([path, 200, 'Welcome to the Parley gateway, it is working!'])
    }
    for (const path of ['/instance/connectionState/shop', '/instance/connectionState/shop/?x=1']) {
      const { status, body } = await ask(url(), path, headers)
      expect([status, body.instance.instanceName]).toEqual([200, 'shop'])
    }
  })

  it('runs once per Idempotency-Key, across both addresses', async () => {
    const name = `once-${Object.keys(headers).length}`
    const once = { 'idempotency-key': name }
    const body = { instanceName: name, integration: 'SANDBOX' }
    const made = await ask(url(), '/instance/create', { ...headers, ...once }, body)
    const again = await ask(world.app.url, '/gateway/instance/create', once, body)
    expect(made.status).toBe(201)
    expect(again).toEqual(made)
  })

  it.each(['/contact?chat_id=1', '/admin/organizations', '/console', '/metrics', '/docs', '/hooks/upstream', '/s/x'])(
    'has no %s',
    async (path) => {
      const { status, body } = await ask(url(), path, {
        ...headers,
        authorization: `Bearer ${world.adminToken}`,
      })
      expect([status, body]).toEqual([
        404,
        { status: 404, error: 'Not Found', response: { message: [`Cannot GET ${path.split('?')[0]}`] } },
      ])
    },
  )

  it('refuses other organizations and requests without a key', async () => {
    const other = await world.createOrganization()
    const state = '/instance/connectionState/shop'
    expect((await ask(url(), state, { ...headers, apikey: other.key })).status).toBe(404)
    expect((await ask(url(), state, { ...headers, apikey: '' })).status).toBe(401)
  })

  it('serves health checks, and a description with paths that begin at the root', async () => {
    expect((await ask(url(), '/healthz', headers)).body.status).toBe('ok')
    expect((await ask(url(), '/readyz', headers)).status).toBe(200)
    const { body } = await ask(url(), '/openapi.json', headers)
    expect(body.info.title).toBe('Parley gateway')
    expect(Object.keys(body.paths)).toContain('/message/sendText/{instance}')
  })
})

it('ignores X-Forwarded-Host', async () => {
  const { body } = await ask(world.app.url, '/openapi.json', { 'x-forwarded-host': 'gw.example.com' })
  expect(body.info.title).toBe('Parley API')
})

it('serves other addresses as usual', async () => {
  const { status } = await ask(world.app.url, '/instance/connectionState/shop')
  expect(status).toBe(404)
  const { body } = await ask(world.app.url, '/gateway/openapi.json')
  expect(Object.keys(body.paths)).toContain('/gateway/message/sendText/{instance}')
})
