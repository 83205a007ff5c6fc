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

function readRaw(content: unknown): JsonObject | null {
  if (!isJsonObject(content) || isDeeperThan(content, MAX_RAW_DEPTH)) return null
  return JSON.stringify(content).length <= MAX_RAW_LENGTH ? content : null
}
