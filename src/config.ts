import { isIP } from 'node:net'
import { resolve } from 'node:path'

/** The roles that a process may have (`PARLEY_ROLES`). */
export const roles = ['api', 'worker', 'gateway'] as const
export type Role = (typeof roles)[number]

/** The log levels (`PARLEY_LOG_LEVEL`). */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const variableNames = [
  'PARLEY_HOST',
  'PARLEY_PORT',
  'PARLEY_PUBLIC_URL',
  'PARLEY_GATEWAY_HOST',
  'PARLEY_GATEWAY_PORT',
  'PARLEY_DATA_DIR',
  'PARLEY_DATABASE_URL',
  'PARLEY_ADMIN_TOKEN',
  'PARLEY_SECRET',
  'PARLEY_UPSTREAM_URL',
  'PARLEY_MEDIA_URL',
  'PARLEY_MEDIA_ACCESS_KEY',
  'PARLEY_MEDIA_SECRET_KEY',
  'PARLEY_RATE_LIMIT',
  'PARLEY_UPSTREAM_TIMEOUT_MS',
  'PARLEY_ALLOWED_PRIVATE_HOSTS',
  'PARLEY_ROLES',
  'PARLEY_CHANNEL_NAMES',
  'PARLEY_LOG_LEVEL',
  'PARLEY_METRICS_TOKEN',
  'PARLEY_TRANSCRIBE_URL',
  'PARLEY_TRANSCRIBE_KEY',
  'PARLEY_TRANSCRIBE_MODEL',
  'PARLEY_LINKED_DEVICE_LIBRARY',
  'PARLEY_LINKED_DEVICE_URL',
] as const

/** An environment variable that this service reads. */
export type VariableName = (typeof variableNames)[number]

/** Variables whose values are never shown. */
const secretNames: readonly VariableName[] = [
  'PARLEY_ADMIN_TOKEN',
  'PARLEY_SECRET',
  'PARLEY_MEDIA_ACCESS_KEY',
  'PARLEY_MEDIA_SECRET_KEY',
  'PARLEY_METRICS_TOKEN',
  'PARLEY_TRANSCRIBE_KEY',
]
// Variables of the test suite, which reach the processes that it starts.
const testNames = /^PARLEY_TEST_/

/** Where media is kept: as files in the data folder, or in a bucket of an S3-compatible store. */
export type MediaConfig = { kind: 'files' } | BucketConfig

export interface BucketConfig {
  kind: 's3'
  bucket: string
  /** Without slashes around it; may be empty. */
  prefix: string
  /** Without a trailing slash; undefined = AWS's own. */
  endpoint: string | undefined
  region: string
  /** Both or none; without them the AWS SDK finds credentials. */
  accessKey: string | undefined
  secretKey: string | undefined
}

/** An OpenAI-compatible service that turns speech into text. */
export interface TranscribeConfig {
  /** The endpoint itself: …/v1/audio/transcriptions */
  url: string
  key: string | undefined
  model: string
}

/** The validated settings of one process. */
export interface Config {
  host: string
  /** 0 = any free port. */
  port: number
  /** Without a trailing slash; undefined = `http://HOST:PORT` with the port that was bound. */
  publicUrl: string | undefined
  /** The host name, in lower case, at which the gateway answers at the root; undefined = none. */
  gatewayHost: string | undefined
  /** A port at which the gateway answers at the root, 0 = any free one; undefined = none. */
  gatewayPort: number | undefined
  /** Absolute. */
  dataDir: string
  /** undefined = the embedded database. */
  databaseUrl: string | undefined
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
  allowedPrivateHosts: string[]
  /** Without duplicates, in the order of `roles`. */
  roles: Role[]
  /** In lower case. */
  channelNames: string[]
  logLevel: LogLevel
  /** undefined = /metrics is for this machine alone. */
  metricsToken: string | undefined
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

/** A value as text was meant to give it, or what was expected in its place. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; expected: string }

/**
 * Reads and validates the settings. Empty variables count as unset; `up` has their values in place of defaults. The
 * problem is one line with the variable, its value (masked if secret) and the expected form.
 */
export function readConfig(
  env: Record<string, string | undefined>,
  up: Record<string, string> = {},
): { ok: true; config: Config } | { ok: false; problem: string } {
  const fromEnvironment = givenVariables(env)
  const given = new Map([...givenVariables(up), ...fromEnvironment])
  const problems = [...unknownVariables(given)]

  const read = <T, Default>(name: VariableName, parse: (text: string) => Parsed<T>, byDefault: Default) => {
    const text = given.get(name)
    if (text === undefined) return byDefault
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    problems.push(`${name}=${shown(name, text)}: expected ${parsed.expected}`)
    return byDefault
  }

  const bucket = read('PARLEY_MEDIA_URL', parseMediaUrl, null)
  const accessKey = read('PARLEY_MEDIA_ACCESS_KEY', parseHeaderText, undefined)
  const secretKey = read('PARLEY_MEDIA_SECRET_KEY', parseHeaderText, undefined)
  const transcribeUrl = read('PARLEY_TRANSCRIBE_URL', parseTranscribeUrl, null)
  const transcribeKey = read('PARLEY_TRANSCRIBE_KEY', parseHeaderText, undefined)
  const model = read('PARLEY_TRANSCRIBE_MODEL', parseHeaderText, 'whisper-1')

  const config: Config = {
    host: read('PARLEY_HOST', parseHost, '127.0.0.1'),
    port: read('PARLEY_PORT', parsePort, 8080),
    publicUrl: read('PARLEY_PUBLIC_URL', parseWebUrl, undefined),
    gatewayHost: read('PARLEY_GATEWAY_HOST', parseHost, undefined)?.toLowerCase(),
    gatewayPort: read('PARLEY_GATEWAY_PORT', parsePort, undefined),
    dataDir: resolve(given.get('PARLEY_DATA_DIR') ?? 'data'),
    databaseUrl: read('PARLEY_DATABASE_URL', parseDatabaseUrl, undefined),
    adminToken: read('PARLEY_ADMIN_TOKEN', parseAdminToken, undefined),
    masterKeys: read('PARLEY_SECRET', parseMasterKeys, undefined),
    upstreamUrl: read('PARLEY_UPSTREAM_URL', parseUpstreamUrl, 'https://graph.facebook.com/v23.0'),
    media: bucket === null ? { kind: 'files' } : { ...bucket, accessKey, secretKey },
    rateLimit: read('PARLEY_RATE_LIMIT', parseRateLimit, 200),
    upstreamTimeoutMs: read('PARLEY_UPSTREAM_TIMEOUT_MS', parseUpstreamTimeout, 15_000),
    allowedPrivateHosts: read('PARLEY_ALLOWED_PRIVATE_HOSTS', parsePrivateHosts, []),
    roles: read('PARLEY_ROLES', parseRoles, [...roles]),
    channelNames: read('PARLEY_CHANNEL_NAMES', parseChannelNames, ['chat', 'whatsapp']),
    logLevel: read('PARLEY_LOG_LEVEL', parseLogLevel, 'info'),
    metricsToken: read('PARLEY_METRICS_TOKEN', parseHeaderText, undefined),
    transcribe: transcribeUrl === null ? null : { url: transcribeUrl, key: transcribeKey, model },
    linkedDeviceLibrary: read('PARLEY_LINKED_DEVICE_LIBRARY', parseLibrary, 'baileys'),
    linkedDeviceUrl: read('PARLEY_LINKED_DEVICE_URL', parseSocketUrl, null),
    fromEnvironment: new Set(variableNames.filter((name) => fromEnvironment.has(name))),
    fromUp: new Set(variableNames.filter((name) => given.has(name) && !fromEnvironment.has(name))),
  }

  const problem = problems[0] ?? contradiction(config)
  return problem === undefined ? { ok: true, config } : { ok: false, problem }
}

/** One setting as `parley config` prints it; `value` never holds a secret. */
export interface ConfigRow {
  name: VariableName
  value: string
  /** `up`: set by the last `parley up` in the data folder. */
  source: 'default' | 'environment' | 'generated' | 'up'
}

/**
 * The effective settings, one row per variable, with secrets masked. Without `secrets`, generated ones show as not
 * loaded.
 */
export function describeConfig(config: Config, secrets?: { adminToken: string; masterKeys: string[] }): ConfigRow[] {
  const adminToken = secrets?.adminToken ?? config.adminToken
  const masterKeys = secrets?.masterKeys ?? config.masterKeys
  const given = config.fromEnvironment
  const values: Record<VariableName, string> = {
    PARLEY_HOST: config.host,
    PARLEY_PORT: String(config.port),
    PARLEY_PUBLIC_URL: config.publicUrl ?? '(from host and port)',
    PARLEY_GATEWAY_HOST: config.gatewayHost ?? '(none)',
    PARLEY_GATEWAY_PORT: config.gatewayPort === undefined ? '(none)' : String(config.gatewayPort),
    PARLEY_DATA_DIR: config.dataDir,
    PARLEY_DATABASE_URL: config.databaseUrl === undefined ? '(embedded)' : maskPassword(config.databaseUrl),
    PARLEY_ADMIN_TOKEN: adminToken === undefined ? '(not loaded)' : '***',
    PARLEY_SECRET: masterKeys === undefined ? '(not loaded)' : masterKeys.map(() => '***').join(','),
    PARLEY_UPSTREAM_URL: config.upstreamUrl,
    PARLEY_MEDIA_URL: describeMedia(config.media),
    PARLEY_MEDIA_ACCESS_KEY: given.has('PARLEY_MEDIA_ACCESS_KEY') ? '***' : '(none)',
    PARLEY_MEDIA_SECRET_KEY: given.has('PARLEY_MEDIA_SECRET_KEY') ? '***' : '(none)',
    PARLEY_RATE_LIMIT: String(config.rateLimit),
    PARLEY_UPSTREAM_TIMEOUT_MS: String(config.upstreamTimeoutMs),
    PARLEY_ALLOWED_PRIVATE_HOSTS: config.allowedPrivateHosts.join(',') || '(none)',
    PARLEY_ROLES: config.roles.join(','),
    PARLEY_CHANNEL_NAMES: config.channelNames.join(','),
    PARLEY_LOG_LEVEL: config.logLevel,
    PARLEY_METRICS_TOKEN: config.metricsToken === undefined ? '(none)' : '***',
    PARLEY_TRANSCRIBE_URL: config.transcribe?.url ?? '(off)',
    PARLEY_TRANSCRIBE_KEY: given.has('PARLEY_TRANSCRIBE_KEY') ? '***' : '(none)',
    PARLEY_TRANSCRIBE_MODEL: config.transcribe?.model ?? '(off)',
    PARLEY_LINKED_DEVICE_LIBRARY: config.linkedDeviceLibrary,
    PARLEY_LINKED_DEVICE_URL: config.linkedDeviceUrl ?? "(the network's own)",
  }
  return variableNames.map((name) => ({ name, value: values[name], source: sourceOf(config, name) }))
}

/** An admin token from `PARLEY_ADMIN_TOKEN` or the secrets file; it must fit in an HTTP header. */
export function parseAdminToken(text: string): Parsed<string> {
  return parseHeaderText(text)
}

/** Master keys from `PARLEY_SECRET` or the secrets file: the current one, then older ones after commas. */
export function parseMasterKeys(text: string): Parsed<string[]> {
  const keys = splitList(text)
  const distinct = new Set(keys).size === keys.length
  return distinct && !keys.includes('')
    ? { ok: true, value: keys }
    : { ok: false, expected: 'one or more different keys, the current one first' }
}

function givenVariables(env: Record<string, string | undefined>): Map<string, string> {
  const given = new Map<string, string>()
  for (const [name, value] of Object.entries(env)) {
    const text = value?.trim()
    if (text && name.startsWith('PARLEY_')) given.set(name, text)
  }
  return given
}

// Otherwise a misspelt name would silently leave the default in force.
function unknownVariables(given: Map<string, string>): string[] {
  const known: readonly string[] = variableNames
  return [...given.keys()]
    .filter((name) => !known.includes(name) && !testNames.test(name))
    .map((name) => `${name} is not a setting of Parley: expected one of ${variableNames.join(', ')}`)
}

const mediaKeyNames = ['PARLEY_MEDIA_ACCESS_KEY', 'PARLEY_MEDIA_SECRET_KEY'] as const

/** Settings that are valid on their own but not together. */
function contradiction(config: Config): string | undefined {
  if (config.port !== 0 && config.gatewayPort === config.port)
    return `PARLEY_GATEWAY_PORT and PARLEY_PORT are both ${config.port}: give the gateway another port`
  if (!config.roles.includes('api')) {
    const only = `PARLEY_ROLES=${config.roles.join(',')} leaves the API to another process`
    if (config.databaseUrl === undefined)
      return `${only}, but the embedded database serves one process only: set PARLEY_DATABASE_URL, or add the role api`
    if (config.upstreamUrl === 'sandbox')
      return `${only}, but PARLEY_UPSTREAM_URL=sandbox serves one process only: name the URL of one 'parley sandbox', or add the role api`
  }
  return mediaContradiction(config) ?? transcribeContradiction(config)
}

function mediaContradiction({ media, fromEnvironment: given }: Config): string | undefined {
  const [key, ...others] = mediaKeyNames.filter((name) => given.has(name))
  if (key === undefined) return undefined
  if (media.kind === 'files')
    return `${key} is set, but PARLEY_MEDIA_URL is not: media is kept in files, which need no key; set PARLEY_MEDIA_URL=s3://bucket, or leave the key out`
  if (others.length === 0)
    return `${key} is set, but ${mediaKeyNames.find((name) => name !== key)} is not: set both, or none for what the AWS SDK finds by itself`
  return undefined
}

function transcribeContradiction({ transcribe, fromEnvironment: given }: Config): string | undefined {
  const alone = (['PARLEY_TRANSCRIBE_KEY', 'PARLEY_TRANSCRIBE_MODEL'] as const).find((name) => given.has(name))
  if (transcribe !== null || alone === undefined) return undefined
  return `${alone} is set, but PARLEY_TRANSCRIBE_URL is not: nothing is transcribed; set the URL, or leave it out`
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
  return warnings
}

/** True if the service can be reached from other machines. */
function isExposed({ host, publicUrl }: Config): boolean {
  return !isLoopback(host) || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname))
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|\[?::1\]?)$/.test(host)
}

function sourceOf(config: Config, name: VariableName): ConfigRow['source'] {
  if (config.fromEnvironment.has(name)) return 'environment'
  if (config.fromUp.has(name)) return 'up'
  return name === 'PARLEY_ADMIN_TOKEN' || name === 'PARLEY_SECRET' ? 'generated' : 'default'
}

function shown(name: VariableName, text: string): string {
  if (secretNames.includes(name)) return '***'
  // A text that is not a URL may contain its password anywhere.
  if (name === 'PARLEY_DATABASE_URL' && !text.includes('//')) return '***'
  return JSON.stringify(maskPassword(text))
}

function describeMedia(media: MediaConfig): string {
  if (media.kind === 'files') return '(files in the data folder)'
  const { bucket, prefix, endpoint, region } = media
  const parameters = [...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]), `region=${region}`]
  return `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}?${parameters.join('&')}`
}

function maskPassword(url: string): string {
  return url.replace(/(\/\/[^:]*:).*(?=@)/s, '$1***').replace(/([?&]\w*password=)[^&]*/gi, '$1***')
}

function parseHost(text: string): Parsed<string> {
  return isIP(text) !== 0 || isHostName(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'a host name or an IP address (IPv6 without brackets)' }
}

function parsePort(text: string): Parsed<number> {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? { ok: true, value: Number(text) }
    : { ok: false, expected: 'a port number from 0 (any free one) to 65535' }
}

function parseWebUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url && isWeb && !/[?#]/.test(text) && url.username === '' && url.password === ''
    ? { ok: true, value: url.href.replace(/\/+$/, '') }
    : { ok: false, expected: 'an http or https URL without credentials, query and fragment' }
}

function parseUpstreamUrl(text: string): Parsed<string> {
  if (text === 'sandbox') return { ok: true, value: text }
  const parsed = parseWebUrl(text)
  return parsed.ok ? parsed : { ok: false, expected: `'sandbox', or ${parsed.expected}` }
}

/** Text that can travel in an HTTP header. */
function parseHeaderText(text: string): Parsed<string> {
  return /^[\x21-\x7e]+$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'ASCII characters without spaces' }
}

function parseMediaUrl(text: string): Parsed<Omit<BucketConfig, 'accessKey' | 'secretKey'>> {
  const expected = (what: string) =>
    ({ ok: false, expected: `s3://bucket/prefix?endpoint=…&region=…, ${what}` }) as const
  const parts = /^s3:\/\/([a-z0-9][\w.-]{1,61}[a-z0-9])(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text)
  if (parts === null)
    return expected('with a bucket of 3 to 63 letters, digits, dots and hyphens; all else may be left out')
  const [, bucket = '', path = '', query = ''] = parts
  const prefix = path.replace(/^\/+|\/+$/g, '')
  if (prefix !== '' && !prefix.split('/').every((part) => /^(?!\.+$)[\w.-]+$/.test(part)))
    return expected('with a prefix of letters, digits, dots, hyphens and slashes')

  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  if (new Set(names).size !== names.length || names.some((name) => name !== 'endpoint' && name !== 'region'))
    return expected('with no other parameters, and none twice')
  const region = parameters.get('region') ?? 'us-east-1'
  if (!/^[a-z0-9-]+$/i.test(region)) return expected('with a region such as us-east-1')
  const endpoint = parameters.get('endpoint')
  if (endpoint === null) return { ok: true, value: { kind: 's3', bucket, prefix, endpoint: undefined, region } }
  const parsed = parseWebUrl(endpoint)
  return parsed.ok
    ? { ok: true, value: { kind: 's3', bucket, prefix, endpoint: parsed.value, region } }
    : expected(`with an endpoint that is ${parsed.expected}`)
}

/** The endpoint, from any of its usual forms: the server, its …/v1, or the endpoint itself. */
function parseTranscribeUrl(text: string): Parsed<string> {
  const parsed = parseWebUrl(text)
  if (!parsed.ok || parsed.value.endsWith('/audio/transcriptions')) return parsed
  const base = parsed.value.replace(/\/v1$/, '')
  return { ok: true, value: `${base}/v1/audio/transcriptions` }
}

/** A package name is kept; a path is made absolute. */
function parseLibrary(text: string): Parsed<string> {
  if (/^(\.{0,2}\/)/.test(text)) return { ok: true, value: resolve(text) }
  return /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: "the name of a package, or a path that begins with '/' or './'" }
}

function parseSocketUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSocket = url?.protocol === 'ws:' || url?.protocol === 'wss:'
  return url && isSocket && url.hash === '' && url.username === '' && url.password === ''
    ? { ok: true, value: url.href }
    : { ok: false, expected: 'a ws or wss URL without credentials and fragment' }
}

function parseDatabaseUrl(text: string): Parsed<string> {
  // A URL of a Unix socket may have no host: postgres://user@/database?host=/folder
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
    ? { ok: true, value: text }
    : { ok: false, expected: 'a URL of PostgreSQL such as postgres://user:password@host:5432/database' }
}

function parseRateLimit(text: string): Parsed<number> {
  const limit = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return limit === 0 || (limit >= 0.5 && Number.isFinite(limit))
    ? { ok: true, value: limit }
    : {
        ok: false,
        expected: 'requests per second, 0.5 or more (the burst of twice that holds one request), or 0 for no limit',
      }
}

function parseUpstreamTimeout(text: string): Parsed<number> {
  const timeout = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return timeout >= 1 && timeout <= 25_000
    ? { ok: true, value: timeout }
    : { ok: false, expected: 'milliseconds from 1 to 25000 (the whole budget of a request)' }
}

function parsePrivateHosts(text: string): Parsed<string[]> {
  const hosts = splitList(text.toLowerCase())
  return hosts.every((host) => isAddress(host) || isAddressRange(host) || isHostName(host))
    ? { ok: true, value: hosts }
    : {
        ok: false,
        expected: 'a comma list of host names, IP addresses and CIDR ranges, without scheme, port and brackets',
      }
}

function parseRoles(text: string): Parsed<Role[]> {
  const named = splitList(text)
  const known: readonly string[] = roles
  return named.every((role) => known.includes(role))
    ? { ok: true, value: roles.filter((role) => named.includes(role)) }
    : { ok: false, expected: `a comma list of ${roles.join(', ')}` }
}

function parseChannelNames(text: string): Parsed<string[]> {
  const names = splitList(text.toLowerCase())
  return names.every((name) => name !== '')
    ? { ok: true, value: names }
    : { ok: false, expected: 'a comma list of utm_source values' }
}

function parseLogLevel(text: string): Parsed<LogLevel> {
  const level = logLevels.find((candidate) => candidate === text)
  return level ? { ok: true, value: level } : { ok: false, expected: `one of ${logLevels.join(', ')}` }
}

/** The items between the commas, including empty ones, so that each list refuses a stray comma. */
function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim())
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

function isAddressRange(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  const widest = isIP(address) === 4 ? 32 : 128
  return rest.length === 0 && isAddress(address) && /^\d{1,3}$/.test(bits) && Number(bits) <= widest
}

function isHostName(text: string): boolean {
  const labels = text.split('.')
  // A last label of digits only is a mistyped IPv4 address.
  const isNumeric = /^\d+$/.test(labels.at(-1) ?? '')
  return text.length <= 253 && !isNumeric && labels.every((label) => /^\w([\w-]{0,61}\w)?$/.test(label))
}
