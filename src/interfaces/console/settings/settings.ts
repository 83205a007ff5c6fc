import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { CALLBACK_FIELDS } from '../../../core/callbacks/fields.js'
import { readHealth } from '../../../core/organizations/connecting/check.js'
import { connectNumber } from '../../../core/organizations/connecting/connect.js'
import { testStorefront, testUpstream } from '../../../core/organizations/connection-tests.js'
import { connectOwnUpstream, connectStorefront } from '../../../core/organizations/connections.js'
import { removeFurtherNumber } from '../../../core/organizations/further-numbers.js'
import { changeOrganization } from '../../../core/organizations/organizations.js'
import { readSettings } from '../../../core/organizations/settings.js'
import { tenantOf } from '../../../http/access/auth.js'
import {
  ChangeOwnOrganization,
  ChangeStorefront,
  ChangeUpstream,
  ConnectNumber,
  ReadHealth,
  readOwnOrganizationFields,
  TestStorefront,
  TestUpstream,
} from '../../../model/organizations/operator-input.js'
import type { ConsoleServer } from '../server.js'

/** `/settings`: the organization and its connections, for owners. Every change returns all settings. */
export function settingsRoutes(server: ConsoleServer, ctx: Context): void {
  const config = { role: 'owner' } as const
  const answer = async (organizationId: string) => ({
    success: true,
    ...(await readSettings(ctx, organizationId, CALLBACK_FIELDS)),
  })

  server.get('/settings', { config }, (request) => answer(tenantOf(request).id))

  server.patch('/settings/organization', { config, schema: { body: ChangeOwnOrganization } }, async (request) => {
    const { id } = tenantOf(request)
    await changeOrganization(ctx, id, readOwnOrganizationFields(request.body))
    return answer(id)
  })

  server.put('/settings/upstream', { config, schema: { body: ChangeUpstream } }, async (request) => {
    const tenant = tenantOf(request)
    await connectOwnUpstream(ctx, tenant, request.body)
    return answer(tenant.id)
  })

  server.post('/settings/upstream/test', { config, schema: { body: TestUpstream } }, async (request) => {
    return { success: true, checks: await testUpstream(ctx, tenantOf(request), request.body) }
  })

  server.post('/settings/upstream/connect', { config, schema: { body: ConnectNumber } }, async (request) => {
    return { success: true, ...(await connectNumber(ctx, tenantOf(request).id, request.body)) }
  })

  server.get('/settings/upstream/health', { config, schema: { querystring: ReadHealth } }, async (request) => {
    const isRefreshed = request.query.refresh === 'true'
    return { success: true, numbers: await readHealth(ctx, tenantOf(request).id, isRefreshed) }
  })

  server.delete(
    '/settings/numbers/:phoneNumberId',
    { config, schema: { params: Type.Object({ phoneNumberId: Type.String({ minLength: 1, maxLength: 64 }) }) } },
    async (request) => {
      await removeFurtherNumber(ctx, tenantOf(request).id, request.params.phoneNumberId)
      return { success: true }
    },
  )

  server.put('/settings/storefront', { config, schema: { body: ChangeStorefront } }, async (request) => {
    const { id } = tenantOf(request)
    const { url, access_token, webhook_secret } = request.body
    await connectStorefront(ctx, id, { url, access_token, webhook_secret })
    return answer(id)
  })

  server.post('/settings/storefront/test', { config, schema: { body: TestStorefront } }, async (request) => {
    return { success: true, checks: await testStorefront(ctx, tenantOf(request).id, request.body) }
  })
}
