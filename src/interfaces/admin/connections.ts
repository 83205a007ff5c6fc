import type { Context } from '../../context.js'
import { readHealth } from '../../core/organizations/connecting/check.js'
import { connectNumber } from '../../core/organizations/connecting/connect.js'
import { connectStorefront, connectUpstream, getStorefrontUrl } from '../../core/organizations/connections.js'
import { removeFurtherNumber } from '../../core/organizations/further-numbers.js'
import { listNumbers } from '../../core/organizations/numbers.js'
import { getOrganization } from '../../core/organizations/organizations.js'
import type { TypedServer } from '../../http/server.js'
import { readUpstreamCredentials } from '../../model/organizations/operator-input.js'
import { presentOrganization } from '../../model/organizations/organization.js'
import { presentOwnNumber } from '../../model/organizations/own-number.js'
import { presentUpstream } from '../../model/organizations/settings.js'
import * as schemas from './schemas.js'

/** `/organizations/{id}`: its upstream, connecting it, and its storefront. */
export function connectionRoutes(server: TypedServer, ctx: Context): void {
  server.put('/organizations/:id/upstream', { schema: schemas.connectUpstream }, async (request) => {
    const credentials = readUpstreamCredentials(request.body)
    const organization = await connectUpstream(ctx, request.params.id, credentials)
    return {
      success: true,
      organization: presentOrganization(organization),
      upstream: presentUpstream(credentials),
    }
  })

  server.post('/organizations/:id/upstream/connect', { schema: schemas.connectNumber }, async (request) => {
    return { success: true, ...(await connectNumber(ctx, request.params.id, request.body)) }
  })

  server.get('/organizations/:id/upstream/health', { schema: schemas.getHealth }, async (request) => {
    return { success: true, numbers: await readHealth(ctx, request.params.id, request.query.refresh === 'true') }
  })

  server.get('/organizations/:id/numbers', { schema: schemas.listNumbers }, async (request) => {
    const { id } = await getOrganization(ctx, request.params.id)
    return { success: true, numbers: (await listNumbers(ctx, { id })).map(presentOwnNumber) }
  })

  server.delete('/organizations/:id/numbers/:phoneNumberId', { schema: schemas.removeNumber }, async (request) => {
    const { id, phoneNumberId } = request.params
    await removeFurtherNumber(ctx, id, phoneNumberId)
    return { success: true, message: 'The number has been disconnected; its conversations stay' }
  })

  server.get('/organizations/:id/storefront', { schema: schemas.getStorefront }, async (request) => {
    const url = await getStorefrontUrl(ctx, request.params.id)
    return { success: true, storefront: url === null ? null : { url } }
  })

  server.put('/organizations/:id/storefront', { schema: schemas.connectStorefront }, async (request) => {
    const { url, access_token, webhook_secret } = request.body
    await connectStorefront(ctx, request.params.id, { url, access_token, webhook_secret })
    return { success: true, storefront: { url } }
  })
}
