import type { Static } from 'typebox'
import type { InstanceWithWebhookFields } from '../../../core/instances/manage/create-with-webhook.js'
import { excerpt } from '../../../lib/text/text.js'
import type { InstanceWebhookFields } from '../../../model/instances/gateway-webhook.js'
import { INTEGRATIONS, type InstanceKind } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { readFlags, type WebhookBody } from '../webhook.js'
import type { CreateBody } from './schemas.js'
import { readSettings } from './settings.js'

type Body = Static<typeof CreateBody>

/** The names of the fields in a body, for error messages. Both versions of clients use the same. */
const FIELD_NAMES = {
  name: 'instanceName',
  accessToken: 'accessToken',
  businessId: 'businessId',
  appSecret: 'appSecret',
  verifyToken: 'verifyToken',
} as const satisfies Record<string, keyof Body>

/** A kind of other gateways, whose connection is programmed by the client. */
const FOREIGN = 'EVOLUTION'

/** Reads the fields of a new instance, with the names of either version. Throws invalid_provider, not_supported. */
export function readNewInstance(body: Body): InstanceWithWebhookFields {
  return {
    fieldNames: FIELD_NAMES,
    name: body.instanceName,
    kind: readKind(body.integration),
    token: body.token ?? undefined,
    accessToken: body.accessToken ?? undefined,
    number: body.number ?? undefined,
    businessId: body.businessId ?? undefined,
    appSecret: body.appSecret ?? undefined,
    verifyToken: body.verifyToken ?? undefined,
    settings: readSettings(body),
    webhook: readWebhook(body),
  }
}

function readKind(integration: string | null | undefined): InstanceKind {
  const given = integration ?? ''
  const name = given.toUpperCase()
  const kind = Object.hasOwn(INTEGRATIONS, name) ? INTEGRATIONS[name] : undefined
  if (kind) return kind
  const names = Object.keys(INTEGRATIONS).join(', ')
  if (name === FOREIGN) {
    throw new Problem('not_supported', `The integration ${FOREIGN} is not supported: use one of ${names}`)
  }
  throw new Problem('invalid_provider', `Invalid integration: "${excerpt(given)}" is not one of ${names}`)
}

/** Null if no URL is given. Older clients send the webhook's other fields at the top level of the body. */
function readWebhook(body: Body): InstanceWebhookFields | null {
  const given = typeof body.webhook === 'string' ? { url: body.webhook } : body.webhook
  const { url, enabled, headers, events, ...flags }: Static<typeof WebhookBody> = given ?? {}
  if (!url) return null
  const { webhookByEvents, webhook_by_events, webhookBase64, webhook_base64 } = body
  return {
    url,
    enabled: enabled ?? true,
    headers: headers ?? {},
    events: events ?? body.events ?? [],
    ...readFlags(flags, { webhookByEvents, webhook_by_events, webhookBase64, webhook_base64 }),
  }
}
