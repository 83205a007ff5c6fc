/** Kept of a file in Base64: what is before the size of a QR code, which follows from its random content. */
const BASE64_LENGTH = 46
/** Takes the place of the time of the recording. */
const NOW = '2026-03-02T09:00:00.000Z'
const HOUR_MS = 3_600_000

/**
 * The value with everything that differs from run to run replaced: the texts that `replacements` name, and ids, times,
 * durations and secrets. The same text is always replaced by the same one. Times keep their distance from now, in full
 * hours.
 */
export function withStableValues<Value>(value: Value, replacements: Record<string, string>): Value {
  let text = JSON.stringify(value, null, 1)
  for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, to)
  for (const [pattern, replace] of PATTERNS) {
    const seen = new Map<string, string>()
    text = text.replaceAll(pattern, (match) => {
      const known = seen.get(match) ?? replace(seen.size + 1, match)
      seen.set(match, known)
      return known
    })
  }
  return JSON.parse(text)
}

/** The nth text that a pattern matches becomes what its function returns. */
const PATTERNS: [RegExp, (n: number, match: string) => string][] = [
  [
    /(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])/g,
    (n) => `01a20000-0000-7000-8000-${numbered(n, 12)}`,
  ],
  [/wamid\.[\w+/=-]+/g, (n) => `wamid.EXAMPLE${n}`],
  // Ids and handles of templates.
  [/(?<="id": ")\d{16}(?=")/g, (n) => `1000${numbered(n, 12)}`],
  [/(?<="handle": ")[^"]+/g, () => '4::YXBwbGljYXRpb24vcGRm:EXAMPLE'],
  [/(?<=")[0-9A-F]{32}(?=")/g, (n) => `3EB0${numbered(n, 28)}`],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (_n, match) => stableTime(match)],
  [/whsec_[\w+/=]+/g, () => 'whsec_EXAMPLE'],
  [/parley_[\w-]{12,}/g, () => 'parley_EXAMPLE'],
  [/(?<=\?expires=)\d+&signature=[\w-]+/g, () => '1772445600&signature=EXAMPLE'],
  [/(?<="prefix": ")[^"]+/g, () => 'parley_EXAM'],
  [/(?<="upstream_request_id": ")[^"]+/g, () => 'AbCdEfGhIjK'],
  [/(?<="duration_ms": )\d+/g, () => '42'],
  [/(?<="messageTimestamp": )\d+/g, () => '1772442000'],
  [/(?<="(?:t|senderT)imestampMs": )\d+/g, () => '1772442000000'],
  [/(?<="handover:\w+:)\d+/g, () => '1772442000000'],
  [/(?<="group:)[0-9a-f]{64}/g, () => '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  [/(?<="next_after": ")[^"]+/g, () => 'MToxMjovLw'],
  [/(?<=sign-in#)[^"]+/g, () => 'TOKEN'],
  [/(?<="(?:hash|token)": ")[^"]+/g, () => 'TOKEN-OF-THE-INSTANCE'],
  [/(?<="pairingCode": ")[^"]+/g, () => 'WZYEH1YY'],
  [/(?<=")2@[\w+/=,]+/g, () => '2@EXAMPLE,EXAMPLE,EXAMPLE'],
  [/(?<="base64": ")[^"]+/g, (_n, match) => match.slice(0, BASE64_LENGTH)],
]

function numbered(n: number, length: number): string {
  return String(n).padStart(length, '0')
}

function stableTime(time: string): string {
  const hours = Math.round((Date.parse(time) - Date.now()) / HOUR_MS)
  return new Date(Date.parse(NOW) + hours * HOUR_MS).toISOString()
}
