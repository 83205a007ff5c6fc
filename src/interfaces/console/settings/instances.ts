import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import {
  connectInstance,
  deleteInstance,
  logoutInstance,
  restartInstance,
} from '../../../core/instances/manage/connect.js'
import { newestCode } from '../../../core/instances/manage/connection-state.js'
import { createInstanceWithWebhook } from '../../../core/instances/manage/create-with-webhook.js'
import { requireInstance } from '../../../core/instances/manage/find.js'
import { decryptToken, listInstanceRows } from '../../../core/instances/manage/list.js'
import { scanCode } from '../../../core/instances/manage/scan.js'
import { tenantOf } from '../../../http/access/auth.js'
import { newId } from '../../../lib/bytes/id.js'
import { qrDataUrl } from '../../../lib/text/qr.js'
import { Nullable } from '../../../model/fields.js'
import { type ConsoleCode, type Instance, presentInstance, readLinkNumber } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import type { ConsoleServer } from '../server.js'

const Text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))

const CreateInstance = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  kind: Type.Enum(['linked_device', 'business_api', 'sandbox']),
  number: Text(100),
  business_account_id: Text(100),
  access_token: Text(2_048),
  app_secret: Text(1_000),
  verify_token: Text(256),
})

const FIELD_NAMES = {
  name: 'name',
  accessToken: 'access_token',
  businessId: 'business_account_id',
  appSecret: 'app_secret',
  verifyToken: 'verify_token',
} as const satisfies Record<string, keyof typeof CreateInstance.properties>

const NameParams = Type.Object({ name: Type.String() })
const NumberBody = Type.Object({ number: Text(100) })

/** Delay in seconds before a client should retry after a device could not be reached. */
const RETRY_SECONDS = 5

/** `/instances`: the organization's instances, for owners. */
export function instanceRoutes(server: ConsoleServer, ctx: Context): void {
  const config = { role: 'owner' } as const
  const params = NameParams

  server.get('/instances', { config }, async (request) => {
    const instances = await listInstanceRows(ctx, tenantOf(request).id)
    return { success: true, instances: instances.map(presentInstance) }
  })

  server.post('/instances', { config, schema: { body: CreateInstance } }, async (request, reply) => {
    const { instance } = await createInstanceWithWebhook(ctx, tenantOf(request), readSetUp(request.body), newId())
    return reply.code(201).send({ success: true, instance: presentInstance(instance) })
  })

  server.get('/instances/:name', { config, schema: { params } }, async (request) => {
    return answer(await requireInstance(ctx, tenantOf(request).id, request.params.name))
  })

  server.get('/instances/:name/code', { config, schema: { params } }, async (request) => {
    const instance = await requireInstance(ctx, tenantOf(request).id, request.params.name)
    return { ...answer(instance), code: await presentCode(newestCode(ctx, instance)) }
  })

  server.post('/instances/:name/connect', { config, schema: { params, body: NumberBody } }, async (request) => {
    const tenant = tenantOf(request)
    const number = readLinkNumber(request.body.number)
    return connect(tenant.id, request.params.name, (instance) => connectInstance(ctx, tenant, instance, number))
  })

  server.post('/instances/:name/restart', { config, schema: { params } }, async (request) => {
    const tenant = tenantOf(request)
    return connect(tenant.id, request.params.name, (instance) => restartInstance(ctx, tenant, instance))
  })

  server.post('/instances/:name/logout', { config, schema: { params } }, async (request) => {
    const tenant = tenantOf(request)
    const { name } = request.params
    await logoutInstance(ctx, tenant, await requireInstance(ctx, tenant.id, name))
    return answer(await requireInstance(ctx, tenant.id, name))
  })

  server.post('/instances/:name/scan', { config, schema: { params, body: NumberBody } }, async (request) => {
    const { id } = tenantOf(request)
    const { name } = request.params
    await scanCode(ctx, await requireInstance(ctx, id, name), readLinkNumber(request.body.number))
    return answer(await requireInstance(ctx, id, name))
  })

  server.get('/instances/:name/token', { config, schema: { params } }, async (request) => {
    const instance = await requireInstance(ctx, tenantOf(request).id, request.params.name)
    return { success: true, token: decryptToken(ctx, instance) }
  })

  server.delete('/instances/:name', { config, schema: { params } }, async (request) => {
    const tenant = tenantOf(request)
    await deleteInstance(ctx, tenant, await requireInstance(ctx, tenant.id, request.params.name))
    return { success: true, message: 'The instance has been deleted; its messages stay' }
  })

  async function connect(organizationId: string, name: string, begin: (instance: Instance) => Promise<Code>) {
    const code = await begin(await requireInstance(ctx, organizationId, name)).catch((error) => {
      throw explain(error, name)
    })
    return { ...answer(await requireInstance(ctx, organizationId, name)), code: await presentCode(code) }
  }
}

type Code = Awaited<ReturnType<typeof connectInstance>>

function answer(instance: Instance) {
  return { success: true, instance: presentInstance(instance) }
}

async function presentCode(code: Code): Promise<ConsoleCode | null> {
  if (code === null) return null
  const { code: text, pairingCode, count } = code
  return { text, pairing_code: pairingCode, count, image: text === null ? null : await qrDataUrl(text) }
}

function readSetUp(body: Static<typeof CreateInstance>) {
  return {
    fieldNames: FIELD_NAMES,
    name: body.name,
    kind: body.kind,
    number: body.number || undefined,
    businessId: body.business_account_id || undefined,
    accessToken: body.access_token || undefined,
    appSecret: body.app_secret || undefined,
    verifyToken: body.verify_token || undefined,
    webhook: null,
  }
}

/** Replaces errors that have a fixed text for clients of the gateway with a text for people. */
function explain(error: unknown, name: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'instance_not_open') return error
  const why = typeof error.extras.details === 'string' ? `: ${error.extras.details}` : ''
  return new Problem('service_unavailable', `"${name}" could not be connected${why}. Try again`, {
    retry_after: RETRY_SECONDS,
  })
}
