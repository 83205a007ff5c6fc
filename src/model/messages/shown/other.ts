import { asObject, isDeeperThan, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { readText } from './read.js'
import type { ContentOf } from './schemas.js'

const MAX_RAW_LENGTH = 16_384
const MAX_RAW_DEPTH = 32

/** Records of a change show on their message; their text before it is for nobody. */
const CHANGES = new Set(['edit', 'revoke'])

/** A message that the upstream does not pass on, or that the network has no kind for. */
export function presentUnsupported({ type, raw_type }: JsonObject, extras: unknown): ContentOf<'unsupported'> {
  const named = readText(type)
  const raw = readText(raw_type) ?? readText(asObject(extras).raw_type)
  return { type: 'unsupported', kind: named === null || named === 'unknown' ? (raw ?? named) : named }
}

/** A kind that this version does not know. */
export function presentOther(name: string, content: unknown): ContentOf<'other'> {
  return { type: 'other', name: readText(name), raw: CHANGES.has(name) ? null : readRaw(content) }
}

/** Any JSON but null, unless it is too long or nested too deep. */
function readRaw(content: unknown): unknown {
  if (isDeeperThan(content, MAX_RAW_DEPTH)) return null
  const text = JSON.stringify(content ?? null)
  return text.length <= MAX_RAW_LENGTH ? JSON.parse(text, withoutAddress) : null
}

/** Leaves out where a file is, as all other kinds do: only an object of a file has a type of file. */
function withoutAddress(_name: string, value: unknown): unknown {
  if (!isJsonObject(value) || value.mime_type === undefined) return value
  const { id, url, sha256, ...file } = value
  return file
}
