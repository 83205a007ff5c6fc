import type { Config } from './settings.js'

const mediaKeyNames = ['PARLEY_MEDIA_ACCESS_KEY', 'PARLEY_MEDIA_SECRET_KEY'] as const

/** Settings that are valid on their own but not together. */
export function contradiction(config: Config): string | undefined {
  if (config.port !== 0 && config.gatewayPort === config.port)
    return `PARLEY_GATEWAY_PORT and PARLEY_PORT are both ${config.port}: give the gateway another port`
  if (config.replicaUrl !== undefined && config.databaseUrl === undefined)
    return 'PARLEY_REPLICA_URL is set, but the embedded database has no replica: set PARLEY_DATABASE_URL, or leave the replica out'
  if (!config.roles.includes('api')) {
    const only = `PARLEY_ROLES=${config.roles.join(',')} leaves the API to another process`
    if (config.databaseUrl === undefined)
      return `${only}, but the embedded database serves one process only: set PARLEY_DATABASE_URL, or add the role api`
    if (config.upstreamUrl === 'sandbox')
      return `${only}, but PARLEY_UPSTREAM_URL=sandbox serves one process only: name the URL of one 'parley sandbox', or add the role api`
  }
  return (
    gatewayKeyContradiction(config) ??
    mediaContradiction(config) ??
    transcribeContradiction(config) ??
    tracingContradiction(config)
  )
}

function gatewayKeyContradiction({ gatewayKey, gatewayOrganization, adminToken }: Config): string | undefined {
  if (gatewayKey !== undefined && gatewayOrganization === undefined)
    return 'PARLEY_GATEWAY_KEY is set, but PARLEY_GATEWAY_ORGANIZATION is not: name the organization whose instances the key creates, by its id or slug'
  if (gatewayKey === undefined && gatewayOrganization !== undefined)
    return 'PARLEY_GATEWAY_ORGANIZATION is set, but PARLEY_GATEWAY_KEY is not: set the key, or leave the organization out'
  if (gatewayKey !== undefined && gatewayKey === adminToken)
    return 'PARLEY_GATEWAY_KEY and PARLEY_ADMIN_TOKEN are the same: give the key other characters, because programs of the organization have it'
  return undefined
}

function mediaContradiction({ media, fromEnvironment: given }: Config): string | undefined {
  const [key, ...others] = mediaKeyNames.filter((name) => given.has(name))
  if (key === undefined) return undefined
  if (media.kind === 'files')
    return `${key} is set, but PARLEY_MEDIA_URL is not: media is kept in files, which need no key; set PARLEY_MEDIA_URL=s3://bucket, or leave the key out`
  if (others.length === 0)
    return `${key} is set, but ${mediaKeyNames.find((name) => name !== key)} is not: set both, or neither to let the AWS SDK find credentials`
  return undefined
}

function transcribeContradiction({ transcribe, fromEnvironment: given }: Config): string | undefined {
  const alone = (['PARLEY_TRANSCRIBE_KEY', 'PARLEY_TRANSCRIBE_MODEL'] as const).find((name) => given.has(name))
  if (transcribe !== null || alone === undefined) return undefined
  return `${alone} is set, but PARLEY_TRANSCRIBE_URL is not: nothing is transcribed; set the URL, or leave it out`
}

function tracingContradiction({ tracing, fromEnvironment: given }: Config): string | undefined {
  const alone = (['PARLEY_OTLP_TOKEN', 'PARLEY_TRACE_SAMPLING'] as const).find((name) => given.has(name))
  if (tracing !== null || alone === undefined) return undefined
  return `${alone} is set, but PARLEY_OTLP_URL is not: no traces are exported; set the URL, or leave it out`
}

const SAFE_LENGTH = 16

/** Unsafe settings, one line each, for the log at the start. None contains a secret. */
export function configWarnings(config: Config): string[] {
  const { adminToken, masterKeys = [], allowedPrivateHosts } = config
  const warnings: string[] = []
  const reachable = allowedPrivateHosts.filter((host) => host.includes('/') || isLoopback(host))
  if (reachable.length > 0 && isExposed(config))
    warnings.push(
      `PARLEY_ALLOWED_PRIVATE_HOSTS=${reachable.join(',')} lets every organization reach these addresses, and the service can be reached from outside: leave it unset, or list only single hosts that organizations may reach`,
    )
  if (adminToken !== undefined && adminToken.length < SAFE_LENGTH)
    warnings.push(`PARLEY_ADMIN_TOKEN is short: give it at least ${SAFE_LENGTH} random characters`)
  if (masterKeys.some((key) => key.length < SAFE_LENGTH))
    warnings.push(`PARLEY_SECRET is short: give it at least ${SAFE_LENGTH} random characters`)
  if (adminToken !== undefined && masterKeys.includes(adminToken))
    warnings.push(
      'PARLEY_ADMIN_TOKEN and PARLEY_SECRET are the same: the token travels with requests, the key must not',
    )
  if (config.databaseUrl !== undefined && masterKeys.length === 0)
    warnings.push(
      `PARLEY_SECRET is not set: credentials are encrypted with the key in ${config.dataDir}/secrets.json. If that file is lost, they cannot be read; set PARLEY_SECRET to the key in it, for every process`,
    )
  return warnings
}

/** True if the service can be reached from other machines. */
function isExposed({ host, publicUrl }: Config): boolean {
  return !isLoopback(host) || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname))
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|\[?::1\]?)$/.test(host)
}
