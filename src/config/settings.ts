import { resolve } from 'node:path'
import {
  type BucketConfig,
  type LogLevel,
  MASK,
  maskPassword,
  type Parsed,
  parseAdminToken,
  parseCell,
  parseChannelNames,
  parseConnections,
  parseDatabaseUrl,
  parseDrainSeconds,
  parseGatewayKey,
  parseHeaderText,
  parseHost,
  parseLibrary,
  parseLogLevel,
  parseMasterKeys,
  parseMediaUrl,
  parseOtlpUrl,
  parsePort,
  parsePrivateHosts,
  parseRateLimit,
  parseRoles,
  parseSampling,
  parseSocketUrl,
  parseText,
  parseTranscribeUrl,
  parseUpstreamTimeout,
  parseUpstreamUrl,
  parseWebUrl,
  type Role,
  roles,
} from './values.js'

/** Where media is kept: as files in the data folder, or in a bucket of an S3-compatible store. */
export type MediaConfig = { kind: 'files' } | BucketConfig

/** An OpenAI-compatible service that turns speech into text. */
export interface TranscribeConfig {
  /** The endpoint itself: …/v1/audio/transcriptions */
  url: string
  key: string | undefined
  model: string
}

/** Where traces are exported to, by OTLP over HTTP. */
export interface TracingConfig {
  /** The endpoint itself: …/v1/traces */
  url: string
  headers: Record<string, string>
  /** The part of the requests without a trace that are recorded, 0 to 1. */
  sampling: number
}

/** The validated settings of one process. */
export interface Config {
  host: string
  /** 0 = any free port. */
  port: number
  /** Without a trailing slash; undefined = `http://HOST:PORT` with the port that was bound. */
  publicUrl: string | undefined
  /** The name of the cell that this installation is; undefined = it is the only one. */
  cell: string | undefined
  /** The host name, in lower case, at which the gateway answers at the root; undefined = none. */
  gatewayHost: string | undefined
  /** A port at which the gateway answers at the root, 0 = any free one; undefined = none. */
  gatewayPort: number | undefined
  /** The operator's key of the gateway; undefined = none. */
  gatewayKey: string | undefined
  /** The id or slug of the organization whose instances that key creates and lists. */
  gatewayOrganization: string | undefined
  /** Absolute. */
  dataDir: string
  /** undefined = the embedded database. */
  databaseUrl: string | undefined
  /** A read-only replica of the database; undefined = none. */
  replicaUrl: string | undefined
  /** How long a process that is stopped keeps serving, so that proxies notice it first. */
  drainSeconds: number
  /** The most connections to the database that this process opens. */
  databaseConnections: number
  /** undefined = the generated one, see `loadSecrets`. */
  adminToken: string | undefined
  /** Current key first, then those still accepted; undefined = the generated one, see `loadSecrets`. */
  masterKeys: string[] | undefined
  /** `sandbox`, or the upstream's base URL without a trailing slash. */
  upstreamUrl: string
  media: MediaConfig
  /** Requests per second and key; 0 = unlimited. */
  rateLimit: number
  upstreamTimeoutMs: number
  /** Host names, IP addresses and CIDR ranges, in lower case. */
  allowedPrivateHosts: readonly string[]
  /** Without duplicates, in the order of `roles`. */
  roles: readonly Role[]
  /** In lower case. */
  channelNames: readonly string[]
  logLevel: LogLevel
  /** undefined = /metrics is for this machine alone. */
  metricsToken: string | undefined
  /** null = traces are not exported. */
  tracing: TracingConfig | null
  /** null = voice notes are not transcribed. */
  transcribe: TranscribeConfig | null
  /** The name of the package that links devices, or the path of a file in its place. */
  linkedDeviceLibrary: string
  /** null = the servers of the devices' own network. */
  linkedDeviceUrl: string | null
  /** The variables that were set. */
  fromEnvironment: ReadonlySet<VariableName>
  /** The variables whose values are those of `up`, every other value being the default. */
  fromUp: ReadonlySet<VariableName>
}

interface Setting<Value> {
  parse: (text: string) => Parsed<Value>
  byDefault: Value
  /** The effective value as `parley config` prints it; never a secret. */
  show: (config: Config) => string
  /** Whether errors must not quote the value. */
  isSecret: boolean
}

/** The variables that this service reads, in the order of `parley config`. */
export const settings = {
  PARLEY_HOST: setting(parseHost, '127.0.0.1', ({ host }) => host),
  PARLEY_PORT: setting(parsePort, 8080, ({ port }) => String(port)),
  PARLEY_PUBLIC_URL: setting(parseWebUrl, undefined, ({ publicUrl }) => publicUrl ?? '(from host and port)'),
  PARLEY_CELL: setting(parseCell, undefined, ({ cell }) => cell ?? '(none)'),
  PARLEY_GATEWAY_HOST: setting(parseHost, undefined, ({ gatewayHost }) => gatewayHost ?? '(none)'),
  PARLEY_GATEWAY_PORT: setting(parsePort, undefined, ({ gatewayPort }) => String(gatewayPort ?? '(none)')),
  PARLEY_GATEWAY_KEY: secret(parseGatewayKey, ({ gatewayKey }) => (gatewayKey === undefined ? '(none)' : MASK)),
  PARLEY_GATEWAY_ORGANIZATION: setting(
    parseText,
    undefined,
    ({ gatewayOrganization }) => gatewayOrganization ?? '(none)',
  ),
  PARLEY_DRAIN_SECONDS: setting(parseDrainSeconds, 0, ({ drainSeconds }) => String(drainSeconds)),
  PARLEY_DATA_DIR: setting(parseText, 'data', ({ dataDir }) => dataDir),
  PARLEY_DATABASE_URL: setting(parseDatabaseUrl, undefined, ({ databaseUrl }) =>
    databaseUrl === undefined ? '(embedded)' : maskPassword(databaseUrl),
  ),
  PARLEY_REPLICA_URL: setting(parseDatabaseUrl, undefined, ({ replicaUrl }) =>
    replicaUrl === undefined ? '(none)' : maskPassword(replicaUrl),
  ),
  PARLEY_DATABASE_CONNECTIONS: setting(parseConnections, 30, ({ databaseConnections }) => String(databaseConnections)),
  PARLEY_ADMIN_TOKEN: secret(parseAdminToken, ({ adminToken }) => (adminToken === undefined ? '(not loaded)' : MASK)),
  PARLEY_SECRET: secret(parseMasterKeys, ({ masterKeys }) => masterKeys?.map(() => MASK).join(',') ?? '(not loaded)'),
  PARLEY_UPSTREAM_URL: setting(parseUpstreamUrl, 'https://graph.facebook.com/v23.0', ({ upstreamUrl }) => upstreamUrl),
  PARLEY_MEDIA_URL: setting(parseMediaUrl, undefined, ({ media }) => describeMedia(media)),
  PARLEY_MEDIA_ACCESS_KEY: secret(parseHeaderText, ({ media }) => (hasKey(media, 'accessKey') ? MASK : '(none)')),
  PARLEY_MEDIA_SECRET_KEY: secret(parseHeaderText, ({ media }) => (hasKey(media, 'secretKey') ? MASK : '(none)')),
  PARLEY_RATE_LIMIT: setting(parseRateLimit, 200, ({ rateLimit }) => String(rateLimit)),
  PARLEY_UPSTREAM_TIMEOUT_MS: setting(parseUpstreamTimeout, 15_000, ({ upstreamTimeoutMs }) =>
    String(upstreamTimeoutMs),
  ),
  PARLEY_ALLOWED_PRIVATE_HOSTS: setting(
    parsePrivateHosts,
    [],
    ({ allowedPrivateHosts }) => allowedPrivateHosts.join(',') || '(none)',
  ),
  PARLEY_ROLES: setting(parseRoles, roles, (config) => config.roles.join(',')),
  PARLEY_CHANNEL_NAMES: setting(parseChannelNames, ['chat', 'whatsapp'], ({ channelNames }) => channelNames.join(',')),
  PARLEY_LOG_LEVEL: setting(parseLogLevel, 'info', ({ logLevel }) => logLevel),
  PARLEY_METRICS_TOKEN: secret(parseHeaderText, ({ metricsToken }) => (metricsToken === undefined ? '(none)' : MASK)),
  PARLEY_OTLP_URL: setting(parseOtlpUrl, undefined, ({ tracing }) => tracing?.url ?? '(off)'),
  PARLEY_OTLP_TOKEN: secret(parseHeaderText, ({ tracing }) => (tracing?.headers.authorization ? MASK : '(none)')),
  PARLEY_TRACE_SAMPLING: setting(parseSampling, 0.01, ({ tracing }) => String(tracing?.sampling ?? '(off)')),
  PARLEY_TRANSCRIBE_URL: setting(parseTranscribeUrl, undefined, ({ transcribe }) => transcribe?.url ?? '(off)'),
  PARLEY_TRANSCRIBE_KEY: secret(parseHeaderText, ({ transcribe }) => (transcribe?.key === undefined ? '(none)' : MASK)),
  PARLEY_TRANSCRIBE_MODEL: setting(parseHeaderText, 'whisper-1', ({ transcribe }) => transcribe?.model ?? '(off)'),
  PARLEY_LINKED_DEVICE_LIBRARY: setting(parseLibrary, 'baileys', ({ linkedDeviceLibrary }) => linkedDeviceLibrary),
  PARLEY_LINKED_DEVICE_URL: setting(
    parseSocketUrl,
    undefined,
    ({ linkedDeviceUrl }) => linkedDeviceUrl ?? "(the network's own)",
  ),
}

/** An environment variable that this service reads. */
export type VariableName = keyof typeof settings

export const variableNames = Object.keys(settings) as VariableName[]

/** The value that a variable has. */
export type ValueOf<Name extends VariableName> = (typeof settings)[Name]['byDefault']

/** Builds the settings from the values of the variables. */
export function assembleConfig(
  read: <Name extends VariableName>(name: Name) => ValueOf<Name>,
): Omit<Config, 'fromEnvironment' | 'fromUp'> {
  // The order decides which of several wrong values is reported.
  const bucket = read('PARLEY_MEDIA_URL')
  const accessKey = read('PARLEY_MEDIA_ACCESS_KEY')
  const secretKey = read('PARLEY_MEDIA_SECRET_KEY')
  const otlpUrl = read('PARLEY_OTLP_URL')
  const otlpToken = read('PARLEY_OTLP_TOKEN')
  const sampling = read('PARLEY_TRACE_SAMPLING')
  const transcribeUrl = read('PARLEY_TRANSCRIBE_URL')
  const transcribeKey = read('PARLEY_TRANSCRIBE_KEY')
  const transcribeModel = read('PARLEY_TRANSCRIBE_MODEL')
  return {
    host: read('PARLEY_HOST'),
    port: read('PARLEY_PORT'),
    publicUrl: read('PARLEY_PUBLIC_URL'),
    cell: read('PARLEY_CELL'),
    gatewayHost: read('PARLEY_GATEWAY_HOST')?.toLowerCase(),
    gatewayPort: read('PARLEY_GATEWAY_PORT'),
    gatewayKey: read('PARLEY_GATEWAY_KEY'),
    gatewayOrganization: read('PARLEY_GATEWAY_ORGANIZATION'),
    drainSeconds: read('PARLEY_DRAIN_SECONDS'),
    dataDir: resolve(read('PARLEY_DATA_DIR')),
    databaseUrl: read('PARLEY_DATABASE_URL'),
    replicaUrl: read('PARLEY_REPLICA_URL'),
    databaseConnections: read('PARLEY_DATABASE_CONNECTIONS'),
    adminToken: read('PARLEY_ADMIN_TOKEN'),
    masterKeys: read('PARLEY_SECRET'),
    upstreamUrl: read('PARLEY_UPSTREAM_URL'),
    media: bucket === undefined ? { kind: 'files' } : { ...bucket, accessKey, secretKey },
    rateLimit: read('PARLEY_RATE_LIMIT'),
    upstreamTimeoutMs: read('PARLEY_UPSTREAM_TIMEOUT_MS'),
    allowedPrivateHosts: read('PARLEY_ALLOWED_PRIVATE_HOSTS'),
    roles: read('PARLEY_ROLES'),
    channelNames: read('PARLEY_CHANNEL_NAMES'),
    logLevel: read('PARLEY_LOG_LEVEL'),
    metricsToken: read('PARLEY_METRICS_TOKEN'),
    tracing:
      otlpUrl === undefined
        ? null
        : { url: otlpUrl, headers: otlpToken === undefined ? {} : { authorization: `Bearer ${otlpToken}` }, sampling },
    transcribe: transcribeUrl === undefined ? null : { url: transcribeUrl, key: transcribeKey, model: transcribeModel },
    linkedDeviceLibrary: read('PARLEY_LINKED_DEVICE_LIBRARY'),
    linkedDeviceUrl: read('PARLEY_LINKED_DEVICE_URL') ?? null,
  }
}

function setting<Value, const Default>(
  parse: (text: string) => Parsed<Value>,
  byDefault: Default,
  show: (config: Config) => string,
): Setting<Value | Default> {
  return { parse, byDefault, show, isSecret: false }
}

function secret<Value>(
  parse: (text: string) => Parsed<Value>,
  show: (config: Config) => string,
): Setting<Value | undefined> {
  return { parse, byDefault: undefined, show, isSecret: true }
}

function describeMedia(media: MediaConfig): string {
  if (media.kind === 'files') return '(files in the data folder)'
  const { bucket, prefix, endpoint, region } = media
  const parameters = [...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]), `region=${region}`]
  return `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}?${parameters.join('&')}`
}

function hasKey(media: MediaConfig, key: 'accessKey' | 'secretKey'): boolean {
  return media.kind === 's3' && media[key] !== undefined
}
