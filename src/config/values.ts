import { isIP } from 'node:net'
import { resolve } from 'node:path'

/** The roles that a process may have (`PARLEY_ROLES`). */
export const roles = ['api', 'worker', 'gateway'] as const
export type Role = (typeof roles)[number]

/** The log levels (`PARLEY_LOG_LEVEL`). */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

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

/** A value as text was meant to give it, or what was expected in its place. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; expected: string }

/** Stands for a secret. */
export const MASK = '***'

/** Hides the passwords of a URL. */
export function maskPassword(url: string): string {
  return url.replace(/(\/\/[^:]*:).*(?=@)/s, '$1***').replace(/([?&]\w*password=)[^&]*/gi, '$1***')
}

/** An admin token from `PARLEY_ADMIN_TOKEN` or the secrets file; it must fit in an HTTP header. */
export function parseAdminToken(text: string): Parsed<string> {
  return parseHeaderText(text)
}

const MIN_GATEWAY_KEY = 24

/** The key from `PARLEY_GATEWAY_KEY`; what begins as an API key is looked up as one. */
export function parseGatewayKey(text: string): Parsed<string> {
  const parsed = parseHeaderText(text)
  if (!parsed.ok) return parsed
  return text.length >= MIN_GATEWAY_KEY && !text.startsWith('parley_')
    ? parsed
    : { ok: false, expected: `at least ${MIN_GATEWAY_KEY} characters that do not begin with parley_` }
}

/** Master keys from `PARLEY_SECRET` or the secrets file: the current one, then older ones after commas. */
export function parseMasterKeys(text: string): Parsed<string[]> {
  const keys = splitList(text)
  const distinct = new Set(keys).size === keys.length
  return distinct && !keys.includes('')
    ? { ok: true, value: keys }
    : { ok: false, expected: 'one or more different keys, the current one first' }
}

/** Any text. */
export function parseText(text: string): Parsed<string> {
  return { ok: true, value: text }
}

export function parseHost(text: string): Parsed<string> {
  return isIP(text) !== 0 || isHostName(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'a host name or an IP address (IPv6 without brackets)' }
}

export function parsePort(text: string): Parsed<number> {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? { ok: true, value: Number(text) }
    : { ok: false, expected: 'a port number from 0 (any free one) to 65535' }
}

export function parseWebUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url && isWeb && !/[?#]/.test(text) && url.username === '' && url.password === ''
    ? { ok: true, value: url.href.replace(/\/+$/, '') }
    : { ok: false, expected: 'an http or https URL without credentials, query and fragment' }
}

export function parseUpstreamUrl(text: string): Parsed<string> {
  if (text === 'sandbox') return { ok: true, value: text }
  const parsed = parseWebUrl(text)
  return parsed.ok ? parsed : { ok: false, expected: `'sandbox', or ${parsed.expected}` }
}

/** Text that can travel in an HTTP header. */
export function parseHeaderText(text: string): Parsed<string> {
  return /^[\x21-\x7e]+$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'ASCII characters without spaces' }
}

export function parseMediaUrl(text: string): Parsed<Omit<BucketConfig, 'accessKey' | 'secretKey'>> {
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
export function parseTranscribeUrl(text: string): Parsed<string> {
  const parsed = parseWebUrl(text)
  if (!parsed.ok || parsed.value.endsWith('/audio/transcriptions')) return parsed
  const base = parsed.value.replace(/\/v1$/, '')
  return { ok: true, value: `${base}/v1/audio/transcriptions` }
}

/** The endpoint of traces, from its own form or that of its server. */
export function parseOtlpUrl(text: string): Parsed<string> {
  const parsed = parseWebUrl(text)
  return !parsed.ok || parsed.value.endsWith('/v1/traces') ? parsed : { ok: true, value: `${parsed.value}/v1/traces` }
}

export function parseSampling(text: string): Parsed<number> {
  const part = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return part <= 1 ? { ok: true, value: part } : { ok: false, expected: 'a part of all requests, from 0 to 1' }
}

/** A package name is kept; a path is made absolute. */
export function parseLibrary(text: string): Parsed<string> {
  if (/^(\.{0,2}\/)/.test(text)) return { ok: true, value: resolve(text) }
  return /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: "the name of a package, or a path that begins with '/' or './'" }
}

export function parseSocketUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSocket = url?.protocol === 'ws:' || url?.protocol === 'wss:'
  return url && isSocket && url.hash === '' && url.username === '' && url.password === ''
    ? { ok: true, value: url.href }
    : { ok: false, expected: 'a ws or wss URL without credentials and fragment' }
}

export function parseDatabaseUrl(text: string): Parsed<string> {
  // A URL of a Unix socket may have no host: postgres://user@/database?host=/folder
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
    ? { ok: true, value: text }
    : { ok: false, expected: 'a URL of PostgreSQL such as postgres://user:password@host:5432/database' }
}

export function parseRateLimit(text: string): Parsed<number> {
  const limit = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return limit === 0 || (limit >= 0.5 && Number.isFinite(limit))
    ? { ok: true, value: limit }
    : {
        ok: false,
        expected: 'requests per second, 0.5 or more (the burst of twice that holds one request), or 0 for no limit',
      }
}

/** The name of a cell, which is a part of its keys and may be a part of its host name. */
export function parseCell(text: string): Parsed<string> {
  return /^[a-z][a-z0-9]{0,15}$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'up to 16 lower-case letters and digits, a letter first' }
}

export function parseDrainSeconds(text: string): Parsed<number> {
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return seconds <= 300 ? { ok: true, value: seconds } : { ok: false, expected: 'whole seconds from 0 to 300' }
}

export function parseUpstreamTimeout(text: string): Parsed<number> {
  const timeout = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return timeout >= 1 && timeout <= 25_000
    ? { ok: true, value: timeout }
    : { ok: false, expected: 'milliseconds from 1 to 25000 (the whole budget of a request)' }
}

/** Fewer would leave no share for requests or for work. */
const MIN_CONNECTIONS = 15

export function parseConnections(text: string): Parsed<number> {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return count >= MIN_CONNECTIONS && count <= 1_000
    ? { ok: true, value: count }
    : { ok: false, expected: `a number of connections from ${MIN_CONNECTIONS} to 1000` }
}

export function parsePrivateHosts(text: string): Parsed<string[]> {
  const hosts = splitList(text.toLowerCase())
  return hosts.every((host) => isAddress(host) || isAddressRange(host) || isHostName(host))
    ? { ok: true, value: hosts }
    : {
        ok: false,
        expected: 'a comma list of host names, IP addresses and CIDR ranges, without scheme, port and brackets',
      }
}

export function parseRoles(text: string): Parsed<Role[]> {
  const named = splitList(text)
  const known: readonly string[] = roles
  return named.every((role) => known.includes(role))
    ? { ok: true, value: roles.filter((role) => named.includes(role)) }
    : { ok: false, expected: `a comma list of ${roles.join(', ')}` }
}

export function parseChannelNames(text: string): Parsed<string[]> {
  const names = splitList(text.toLowerCase())
  return names.every((name) => name !== '')
    ? { ok: true, value: names }
    : { ok: false, expected: 'a comma list of utm_source values' }
}

export function parseLogLevel(text: string): Parsed<LogLevel> {
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
