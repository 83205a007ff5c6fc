import { hmacSha256Hex } from '../../lib/crypto/signature.js'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { toStorable } from '../../lib/text/text.js'
import { readId } from '../answer.js'
import type { Connection, UpstreamAccess } from '../connection.js'
import { type Asked, ask } from './ask.js'

/** What the upstream says about an access token. Times are null if the token, or the access to data, never ends. */
export interface TokenState {
  isValid: boolean
  appId: string | null
  appName: string | null
  /** SYSTEM_USER, USER, …; null if it was not said. */
  type: string | null
  userId: string | null
  expiresAt: Date | null
  dataAccessExpiresAt: Date | null
  scopes: string[]
  /** The business accounts that granular permissions name; often empty though the token opens some. */
  accountIds: string[]
  /** Why it is not valid. */
  error: { code: number; subcode: number; text: string } | null
}

/** The app of a token. */
export interface TokenApp {
  id: string
  name: string | null
}

const MAX_NAMES = 100
const MAX_TEXT = 300

/** Asks what an access token may do, with the token itself. */
export function debugToken(
  connection: Connection,
  access: UpstreamAccess,
  timeoutMs: number,
): Promise<Asked<{ token: TokenState }>> {
  const path = `/debug_token?${new URLSearchParams({ input_token: access.accessToken })}`
  return ask(connection, { access, method: 'GET', path }, timeoutMs, ({ data }) => {
    const token = asObject(data)
    return typeof token.is_valid === 'boolean' ? { token: readToken(token, token.is_valid) } : null
  })
}

/**
 * Asks for the app of a token. With `appSecret`, the call proves that both belong together: the upstream refuses it
 * with code 100 otherwise.
 */
export function findApp(
  connection: Connection,
  { accessToken, appSecret }: { accessToken: string; appSecret: string | null },
  timeoutMs: number,
): Promise<Asked<{ app: TokenApp }>> {
  const proof = appSecret === null ? '' : `&appsecret_proof=${hmacSha256Hex(appSecret, accessToken)}`
  const question = { access: { accessToken }, method: 'GET', path: `/app?fields=id,name${proof}` } as const
  return ask(connection, question, timeoutMs, (body) => {
    const id = readId(body.id)
    return id === null ? null : { app: { id, name: readShort(body.name) } }
  })
}

function readToken(token: JsonObject, isValid: boolean): TokenState {
  const error = asObject(token.error)
  const named = asObjects(token.granular_scopes).filter(({ scope }) => String(scope).startsWith('whatsapp_business_'))
  return {
    isValid,
    appId: readId(token.app_id),
    appName: readShort(token.application),
    type: readShort(token.type)?.toUpperCase() ?? null,
    userId: readId(token.user_id),
    expiresAt: readSeconds(token.expires_at),
    dataAccessExpiresAt: readSeconds(token.data_access_expires_at),
    scopes: readIds(token.scopes),
    accountIds: [...new Set(named.flatMap(({ target_ids }) => readIds(target_ids)))].slice(0, MAX_NAMES),
    error: Number.isSafeInteger(error.code)
      ? { code: Number(error.code), subcode: Number(error.subcode) || 0, text: readShort(error.message) ?? '' }
      : null,
  }
}

function readIds(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_NAMES).flatMap((item) => readId(item) ?? []) : []
}

/** A time in Unix seconds; null for 0 and for what is no time. */
function readSeconds(value: unknown): Date | null {
  if (typeof value !== 'number' || !(value > 0)) return null
  const at = new Date(value * 1_000)
  return Number.isNaN(at.getTime()) ? null : at
}

/** A text of the upstream that is shown to people, cut; null if there is none. */
export function readShort(value: unknown): string | null {
  const text = asText(value)
  return text === null ? null : toStorable(text.slice(0, MAX_TEXT))
}
