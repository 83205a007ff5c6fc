import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { UpstreamAccess } from '../../../upstream/client.js'
import type { Asked, Refused } from '../../../upstream/connecting/ask.js'
import type { TokenApp, TokenState } from '../../../upstream/connecting/tokens.js'
import { type Asking, found, foundError } from './findings.js'

const PERMISSIONS = ['whatsapp_business_messaging', 'whatsapp_business_management']
/** A token that ends sooner is told. */
export const SOON_MS = 7 * 86_400_000

/** What was learned about an access token; without `app`, nothing further can be asked. */
export interface TokenReading {
  finding: StepFinding
  app: TokenApp | null
  /** Null if the upstream does not say what the token may do. */
  token: TokenState | null
}

/** Asks what an access token may do, and judges it. */
export async function readToken(asking: Asking, access: UpstreamAccess, now: Date): Promise<TokenReading> {
  const { connecting } = asking.upstream
  const asked = await connecting.debugToken(access, asking.callMs())
  if (asked.outcome === 'failed') return ended(foundError('token_unavailable', asked))
  if (asked.outcome === 'refused') return readAppOnly(asking, access, asked)
  const { token } = asked
  const { appId, error } = token
  if (!token.isValid || appId === null) {
    const text = error?.text || 'it is not valid'
    const codes = error === null ? {} : { upstreamCode: error.code, upstreamSubcode: error.subcode }
    return ended({ reason: 'token_refused', values: { text }, ...codes })
  }
  const app = { id: appId, name: token.appName }
  const lacking = PERMISSIONS.filter((permission) => !token.scopes.includes(permission))
  if (lacking.length > 0) return { ...ended(found('token_lacks', { permissions: lacking.join(', ') })), token }
  return { finding: judgeEnd(token, app, now), app, token }
}

/** The finding of the proof that a secret is that of the token's app. */
export async function checkSecret(
  { upstream, callMs }: Asking,
  given: { accessToken: string; appSecret: string },
  app: TokenApp,
): Promise<StepFinding> {
  const asked = await upstream.connecting.findApp(given, callMs())
  return judgeSecret(asked, app)
}

function judgeSecret(asked: Asked<{ app: TokenApp }>, app: TokenApp): StepFinding {
  switch (asked.outcome) {
    case 'done':
      return found('secret_fits')
    case 'refused':
      return foundError('secret_wrong', asked, { app: nameOf(app) })
    case 'failed':
      return foundError('secret_unavailable', asked)
  }
}

/** `debug_token` can be refused though the token works; then only its app is known. */
async function readAppOnly(
  { upstream, callMs }: Asking,
  { accessToken }: UpstreamAccess,
  refused: Refused,
): Promise<TokenReading> {
  if (/appsecret_proof/.test(refused.text)) {
    return ended({ ...foundError('token_needs_proof', refused), field: 'app_secret' })
  }
  const asked = await upstream.connecting.findApp({ accessToken, appSecret: null }, callMs())
  if (asked.outcome === 'done') return { finding: foundError('token_unread', refused), app: asked.app, token: null }
  return ended(
    asked.outcome === 'refused' ? foundError('token_refused', asked) : foundError('token_unavailable', asked),
  )
}

function judgeEnd({ expiresAt, dataAccessExpiresAt, type }: TokenState, app: TokenApp, now: Date): StepFinding {
  const isSoon = (at: Date | null) => at !== null && at.getTime() - now.getTime() < SOON_MS
  if (expiresAt !== null && isSoon(expiresAt)) return found('token_ending', { until: expiresAt.toISOString() })
  if (dataAccessExpiresAt !== null && isSoon(dataAccessExpiresAt)) {
    return found('data_access_ending', { until: dataAccessExpiresAt.toISOString() })
  }
  if (type === 'USER') return found('token_of_person')
  if (expiresAt === null) return found('token_lasting', { app: nameOf(app) })
  return found('token_valid', { until: expiresAt.toISOString(), app: nameOf(app) })
}

function nameOf({ id, name }: TokenApp): string {
  return name === null ? id : `${name} (${id})`
}

function ended(finding: StepFinding): TokenReading {
  return { finding, app: null, token: null }
}
