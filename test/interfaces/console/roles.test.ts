import { beforeAll, describe, expect, it } from 'vitest'
import { type MemberRole, scopesOfRole } from '../../../src/model/organizations/member.js'
import { SCOPES, type Scope } from '../../../src/model/organizations/scope.js'
import { type SignedInMember, signIn } from '../../support/console.js'
import { useOrganization, useWorld } from '../../support/world.js'

const ROLES: readonly MemberRole[] = ['owner', 'agent', 'analyst']
const ID = '00000000-0000-7000-8000-000000000000'

/** The permission that each endpoint of Interface A needs; the first test checks that the list is complete. */
const ENDPOINTS: Record<string, Scope> = {
  'GET /contact': 'contacts:read',
  'POST /contact': 'contacts:write',
  'PATCH /contact': 'contacts:write',
  'DELETE /contact': 'contacts:write',
  'GET /contacts/export': 'contacts:read',
  'POST /contacts/import': 'contacts:write',
  'GET /conversations': 'conversations:read',
  'GET /conversations/export': 'conversations:read',
  'POST /conversations/read': 'messages:send',
  'POST /conversations/typing': 'messages:send',
  'GET /messages/{id}/trace': 'conversations:read',
  'GET /numbers': 'conversations:read',
  'GET /opt-outs': 'contacts:read',
  'GET /opt-outs/export': 'contacts:read',
  'POST /opt-outs/import': 'contacts:write',
  'POST /media': 'messages:send',
  'POST /send-chat': 'messages:send',
  'GET /scheduled': 'conversations:read',
  'PATCH /scheduled/{id}': 'messages:send',
  'DELETE /scheduled/{id}': 'messages:send',
  'POST /send-template': 'templates:send',
  'GET /templates': 'templates:send',
  'POST /templates/sync': 'templates:send',
  'POST /templates': 'templates:write',
  'PATCH /templates': 'templates:write',
  'DELETE /templates': 'templates:write',
  'POST /templates/check': 'templates:write',
  'GET /templates/library': 'templates:write',
  'POST /templates/examples': 'templates:write',
  'POST /broadcasts': 'broadcasts:write',
  'GET /broadcasts': 'broadcasts:read',
  'GET /broadcasts/{id}': 'broadcasts:read',
  'GET /broadcasts/{id}/recipients': 'broadcasts:read',
  'POST /broadcasts/{id}/pause': 'broadcasts:write',
  'POST /broadcasts/{id}/resume': 'broadcasts:write',
  'POST /broadcasts/{id}/cancel': 'broadcasts:write',
  'POST /broadcasts/{id}/retry-failed': 'broadcasts:write',
  'POST /audiences': 'broadcasts:write',
  'GET /audiences': 'broadcasts:read',
  'GET /audiences/{id}': 'broadcasts:read',
  'DELETE /audiences/{id}': 'broadcasts:write',
  'POST /shortlinks': 'broadcasts:write',
  'GET /shortlinks': 'broadcasts:read',
  'GET /broadcast-analytics': 'analytics:read',
  'POST /broadcast-analytics': 'analytics:read',
  'POST /set-webhooks': 'webhooks:write',
  'DELETE /set-webhooks': 'webhooks:write',
  'POST /set-webhooks/{id}/rotate-secret': 'webhooks:write',
  'POST /set-webhooks/{id}/enable': 'webhooks:write',
  'POST /set-webhooks/{id}/test': 'webhooks:write',
  'GET /get-webhooks': 'webhooks:read',
  'GET /webhook-deliveries': 'webhooks:read',
  'GET /webhook-deliveries/{id}': 'webhooks:read',
  'POST /webhook-deliveries/{id}/replay': 'webhooks:write',
  'POST /webhook-deliveries/replay': 'webhooks:write',
  'GET /events': 'webhooks:read',
}

const world = useWorld()
const organization = useOrganization(world)
const members = {} as Record<MemberRole, SignedInMember>

beforeAll(async () => {
  for (const role of ROLES) members[role] = await signIn(world, organization, { role })
})

describe('the endpoints of Interface A', () => {
  it('are all listed below', async () => {
    const { body } = await world.request('GET', '/openapi.json')
    const described = Object.entries<object>(body.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(Object.keys(ENDPOINTS).sort()).toEqual(described.sort())
  })
})

describe.each(ROLES)('an %s', (role) => {
  it.each(Object.entries(ENDPOINTS))('%s', async (endpoint, scope) => {
    const [method = '', path = ''] = endpoint.split(' ')
    // Nothing in the request exists, so a request that passes the guard gets another error.
    const body = method === 'GET' ? undefined : {}
    const answer = await members[role].call(method, path.replace('{id}', ID), { body })
    if (scopesOfRole(role).includes(scope)) {
      expect([401, 403, 405, 500]).not.toContain(answer.status)
      expect(answer.body.error).not.toBe('Not found')
    } else {
      expect([answer.status, answer.body.error]).toEqual([403, 'Insufficient scope'])
      expect(answer.body.message).toContain(`Your role ${role} does not include ${scope}`)
    }
  })
})

/** Every endpoint below /console/api, such as `GET /inbox/:contactId`, from the server's tree of routes. */
function consoleEndpoints(): { method: string; path: string; endpoint: string }[] {
  const branch: string[] = []
  return world.app.server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^((?:[│ ] {3})*)[├└]── (\S+)(?: \((.+)\))?$/.exec(line) ?? []
      branch.splice(indent.length / 4, Number.POSITIVE_INFINITY, part)
      const [, path] = /^\/console\/api(\/.+)$/.exec(branch.join('')) ?? []
      if (path === undefined || methods === '') return []
      return methods
        .split(', ')
        .map((method) => ({ method, path: path.replace(/:\w+/g, ID), endpoint: `${method} ${path}` }))
    })
}

describe('below /console/api', () => {
  it('every endpoint needs a session, except those that start one', async () => {
    const endpoints = consoleEndpoints()
    expect(endpoints.length).toBeGreaterThan(Object.keys(ENDPOINTS).length)
    const open: string[] = []
    for (const { method, path, endpoint } of endpoints) {
      if (method === 'TRACE') continue
      const { status } = await world.request(method, `/console/api${path}`, { key: organization.key })
      if (status !== 401 && status !== 405) open.push(endpoint)
    }
    expect(open).toEqual(['POST /session', 'POST /session/link'])
  })

  it('an analyst can change only its own session', async () => {
    const analyst = await signIn(world, organization, { role: 'analyst' })
    const allowed: string[] = []
    for (const { method, path, endpoint } of consoleEndpoints()) {
      if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method) || endpoint === 'DELETE /session') continue
      const { status } = await analyst.call(method, path, { body: {} })
      if (status !== 403 && status !== 405) allowed.push(endpoint)
    }
    expect(allowed.sort()).toEqual([
      'POST /audience',
      'POST /broadcast-analytics',
      'POST /session',
      'POST /session/link',
      'PUT /session/password',
    ])
  })
})

describe('the scopes of roles', () => {
  it('match the tasks of each role', () => {
    expect(scopesOfRole('owner')).toEqual(SCOPES)
    expect(SCOPES.filter((scope) => !scopesOfRole('agent').includes(scope))).toEqual([
      'webhooks:read',
      'webhooks:write',
      'gateway',
    ])
    expect(scopesOfRole('analyst')).toEqual([
      'contacts:read',
      'conversations:read',
      'broadcasts:read',
      'analytics:read',
    ])
  })
})

describe('a changed role', () => {
  it('applies from the next request', async () => {
    const { member, call } = await signIn(world, organization)
    expect((await call('GET', '/get-webhooks')).status).toBe(200)
    await world.database.pool.query(`UPDATE members SET role = 'analyst' WHERE id = $1`, [member.id])
    expect((await call('GET', '/get-webhooks')).status).toBe(403)
    expect((await call('GET', '/session')).body.session.member.role).toBe('analyst')
  })
})
