import { type Static, Type } from 'typebox'
import type { Context } from '../../context.js'
import {
  findInstanceWebhook,
  type InstanceWebhook,
  recoverInstanceWebhook,
  setInstanceWebhook,
} from '../../core/instances/manage/webhook.js'
import type { RepeatableAnswer } from '../../core/requests/idempotency.js'
import { tenantOf } from '../../http/access/auth.js'
import { named } from '../../http/description/name-schemas.js'
import { answerOnce } from '../../http/idempotency.js'
import {
  GATEWAY_EVENTS,
  type InstanceWebhookFields,
  JWT_HEADER,
  presentGatewayWebhook,
  presentOlderWebhook,
} from '../../model/instances/gateway-webhook.js'
import type { Instance } from '../../model/instances/instance.js'
import { Problem } from '../../model/problem.js'
import { requireRouteInstance } from './auth.js'
import { instancePath, responses } from './schemas.js'
import type { GatewayServer } from './server.js'

const MAX_URL_LENGTH = 2_048
const MAX_EVENTS = 100

const Url = Type.Union([Type.String({ maxLength: MAX_URL_LENGTH }), Type.Null()], {
  description: 'Where events are posted: http or https',
})
const Events = Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_EVENTS }), Type.Null()], {
  description: `Names of events in any spelling. An empty list: all of them. ${GATEWAY_EVENTS.join(', ')}`,
})
const Headers = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
  description: `Further headers. ${JWT_HEADER}: a secret that signs a token for the Authorization header of each attempt.`,
})
const Flag = (description: string) => Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description }))
const BY_EVENTS = 'Each event goes to its own path below the url, such as /messages-upsert'
const WITH_BASE64 = 'Files of up to 16 MB are posted in Base64 with their message'
const ENABLED = 'False: nothing is posted. True by default.'

const fields = {
  enabled: Flag(ENABLED),
  url: Type.Optional(Url),
  headers: Type.Optional(Headers),
  byEvents: Flag(BY_EVENTS),
  webhookByEvents: Flag(BY_EVENTS),
  webhook_by_events: Flag(BY_EVENTS),
  base64: Flag(WITH_BASE64),
  webhookBase64: Flag(WITH_BASE64),
  webhook_base64: Flag(WITH_BASE64),
  events: Type.Optional(Events),
}

/** A webhook as clients of version 2 send it. Some use the names that the flags have in version 1. */
export const WebhookBody = Type.Object(fields, { description: 'The webhook' })

const SetBody = named('SetWebhook', Type.Object({ webhook: Type.Optional(WebhookBody), ...fields }))

const WebhookRow = named(
  'Webhook',
  Type.Object({
    id: Type.String(),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    enabled: Type.Boolean(),
    events: Type.Array(Type.String()),
    webhookByEvents: Type.Boolean(),
    webhookBase64: Type.Boolean(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
    instanceId: Type.String(),
    secret: Type.Optional(Type.String({ description: 'whsec_…: shown only once, when the webhook is created' })),
  }),
)

const OlderAnswer = named(
  'OlderWebhookAnswer',
  Type.Object({
    webhook: Type.Object({
      instanceName: Type.String(),
      webhook: Type.Object({
        enabled: Type.Boolean(),
        url: Type.String(),
        events: Type.Array(Type.String()),
        webhook_by_events: Type.Boolean(),
        webhook_base64: Type.Boolean(),
        secret: Type.Optional(Type.String()),
      }),
    }),
  }),
)

/** `/webhook`: the webhook of an instance. */
export function webhookRoutes(server: GatewayServer, ctx: Context): void {
  server.post(
    '/webhook/set/:instance',
    {
      schema: {
        summary: 'Set the webhook of an instance',
        description:
          'An instance has one webhook. The body holds it in `webhook`, or flat as older clients send it; the answer has the same form.',
        params: instancePath,
        body: SetBody,
        response: responses({ 201: Type.Union([WebhookRow, OlderAnswer]) }, 400, 404, 409, 422),
      },
    },
    async (request, reply) => {
      const { id: organizationId } = tenantOf(request)
      const instance = await requireRouteInstance(ctx, request)
      const { body } = request
      const answer = (set: InstanceWebhook) => present(set, instance, body.webhook !== undefined)
      return answerOnce(ctx, request, reply, {
        isSecret: true,
        perform: async (id) => answer(await setInstanceWebhook(ctx, instance, { ...readBody(body), id })),
        recover: async (id) => {
          const set = await recoverInstanceWebhook(ctx, organizationId, instance, id)
          return set && answer(set)
        },
      })
    },
  )

  server.get(
    '/webhook/find/:instance',
    {
      schema: {
        summary: 'Read the webhook of an instance; null if it has none',
        params: instancePath,
        response: responses({ 200: Type.Union([WebhookRow, Type.Null()]) }, 404),
      },
    },
    async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const found = await findInstanceWebhook(ctx, tenantOf(request).id, instance)
      // Returning null would send an empty body.
      if (found === null) return reply.type('application/json').send('null')
      return presentGatewayWebhook(found.webhook, found.headers)
    },
  )
}

/** `path`: the prefix of the fields in error messages. Throws missing_field. */
function readWebhook(given: GivenWebhook, path: string): InstanceWebhookFields {
  const enabled = given.enabled ?? true
  const url = given.url || null
  if (url === null && enabled) throw new Problem('missing_field', `${path}url is required and must not be empty`)
  return { enabled, url, events: given.events ?? [], headers: given.headers ?? {}, ...readFlags(given) }
}

type GivenWebhook = Static<typeof WebhookBody>
type Flags = Pick<InstanceWebhookFields, 'byEvents' | 'base64'>

/** The flags of a webhook by any of their names, taken from `fallback` if not given, and false if in neither. */
export function readFlags(given: GivenWebhook, fallback: GivenWebhook = {}): Flags {
  return {
    byEvents: byEventsOf(given) ?? byEventsOf(fallback) ?? false,
    base64: base64Of(given) ?? base64Of(fallback) ?? false,
  }
}

function byEventsOf({ byEvents, webhookByEvents, webhook_by_events }: GivenWebhook): boolean | null | undefined {
  return byEvents ?? webhookByEvents ?? webhook_by_events
}

function base64Of({ base64, webhookBase64, webhook_base64 }: GivenWebhook): boolean | null | undefined {
  return base64 ?? webhookBase64 ?? webhook_base64
}

function readBody({ webhook, ...flat }: Static<typeof SetBody>): InstanceWebhookFields {
  return webhook === undefined ? readWebhook(flat, '') : readWebhook(webhook, 'webhook.')
}

function present(set: InstanceWebhook, instance: Instance, isNewer: boolean): RepeatableAnswer {
  const { webhook, headers, secret } = set
  const body = isNewer
    ? { ...presentGatewayWebhook(webhook, headers), ...(secret !== null && { secret }) }
    : presentOlderWebhook(webhook, instance, secret)
  return { status: 201, body, final: true }
}
