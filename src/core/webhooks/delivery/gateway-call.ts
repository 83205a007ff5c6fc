import type { Context } from '../../../context.js'
import type { EndpointCall } from '../../../endpoints/client.js'
import { signToken } from '../../../lib/crypto/json-web-token.js'
import { qrDataUrl } from '../../../lib/text/qr.js'
import {
  type GatewayEventName,
  gatewayEventOf,
  presentGatewayData,
  presentGatewayEvent,
  type ShownCode,
  type WebhookInstance,
} from '../../../model/instances/gateway-event.js'
import { JWT_HEADER } from '../../../model/instances/gateway-webhook.js'
import type { EventRow } from '../../../model/webhooks/event.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import { decryptCode } from '../pairing-code.js'
import { decryptWebhookHeaders } from '../secrets.js'
import { createFileReader, type FileContext } from './file-reader.js'

export type GatewayContext = FileContext & Pick<Context, 'clock' | 'secrets' | 'mediaLinks' | 'publicUrl'>

export type GatewayEndpoint = EndpointRow & { instance: WebhookInstance }

export type GatewayCall = Pick<EndpointCall, 'url' | 'body'> & { headers: Record<string, string> }

/** Composes a call and passes it to `send`; a file counts as in memory until `send` resolves. */
export type GatewayComposer = <Result>(
  endpoint: GatewayEndpoint,
  event: EventRow,
  send: (call: GatewayCall) => Promise<Result>,
) => Promise<Result>

const NO_CODE: ShownCode = { code: null, pairingCode: null, base64: null }
/** Lifetime of an attempt's token. */
const TOKEN_SECONDS = 600

/** Creates the function that composes the calls of instances' webhooks. */
export function createGatewayComposer(ctx: GatewayContext): GatewayComposer {
  const withFile = createFileReader(ctx)
  return async (endpoint, event, send) => {
    const { instance, url, by_events } = endpoint
    const name = requireName(event)
    const data = presentGatewayData(event, instance, await showCode(ctx, event), ctx.mediaLinks.urlOf)
    const compose = (shown: object | null): GatewayCall => ({
      url: by_events ? addToPath(url, name.replaceAll('.', '-')) : url,
      body: JSON.stringify(envelop(ctx, endpoint, event, shown)),
      headers: composeHeaders(ctx, endpoint, name),
    })
    const mediaId = endpoint.with_base64 && CARRIES_FILE.has(name) ? event.data.message?.media_id : null
    if (!mediaId) return send(compose(data))
    return withFile(endpoint, mediaId, (base64) => send(compose(base64 === null ? data : addFile(data, base64))))
  }
}

/** The body without secrets (a code to scan) and large data (a file), for display. */
export function presentGatewayCall(ctx: GatewayContext, endpoint: GatewayEndpoint, event: EventRow) {
  const data = presentGatewayData(event, endpoint.instance, NO_CODE, ctx.mediaLinks.urlOf)
  return envelop(ctx, endpoint, event, data)
}

const CARRIES_FILE: ReadonlySet<GatewayEventName> = new Set(['messages.upsert', 'send.message'])

function requireName(event: EventRow): GatewayEventName {
  const name = gatewayEventOf(event)
  if (name === null) throw new Error(`${event.type} is not an event of the gateway`)
  return name
}

function envelop(ctx: GatewayContext, { instance, url }: GatewayEndpoint, event: EventRow, data: object | null) {
  const sender = { instance, url, serverUrl: `${ctx.publicUrl()}/gateway` }
  return presentGatewayEvent(event, requireName(event), sender, data)
}

async function showCode(ctx: GatewayContext, { organization_id, data }: EventRow): Promise<ShownCode> {
  if (data.qrcode === undefined) return NO_CODE
  const { code, pairingCode } = decryptCode(ctx.secrets, organization_id, data.qrcode.sealed)
  return { code, pairingCode, base64: code === null ? null : await qrDataUrl(code) }
}

function addFile(data: object | null, base64: string): object {
  const { message, ...rest } = data as { message: object }
  return { ...rest, message: { ...message, base64 } }
}

/** Appends the name to the path and keeps the query. */
function addToPath(url: string, name: string): string {
  const target = new URL(url)
  target.pathname = `${target.pathname.replace(/\/+$/, '')}/${name}`
  return target.href
}

function composeHeaders(
  ctx: GatewayContext,
  endpoint: GatewayEndpoint,
  name: GatewayEventName,
): Record<string, string> {
  const { id, name: instanceName } = endpoint.instance
  const { [JWT_HEADER]: key, ...given } = decryptWebhookHeaders(ctx.secrets, endpoint)
  return {
    'x-event-type': name,
    'x-instance-id': id,
    'x-instance-name': encodeURIComponent(instanceName),
    ...Object.fromEntries(Object.entries(given).map(([header, value]) => [header.toLowerCase(), value])),
    ...(key !== undefined && { authorization: `Bearer ${makeToken(key, ctx.clock())}` }),
  }
}

function makeToken(key: string, now: Date): string {
  const iat = Math.floor(now.getTime() / 1_000)
  return signToken({ iat, exp: iat + TOKEN_SECONDS, app: 'evolution', action: 'webhook' }, key)
}
