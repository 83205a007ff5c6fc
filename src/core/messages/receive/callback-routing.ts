import { asObject, asObjects, asText, isDeeperThan, type JsonObject } from '../../../lib/text/json.js'
import { isStorable, toStorableDeep } from '../../../lib/text/text.js'
import type { UpstreamId } from '../../../storage/organizations/organizations.js'

/** An id that a callback names, and how many changes name it. */
export type NamedId = UpstreamId & { changes: number }

/** A change of a callback, with the id of its owner; null if it names none. */
export interface IdentifiedChange {
  entry: JsonObject
  change: JsonObject
  id: UpstreamId | null
}

/** Longer ids are ignored. */
const MAX_ID_LENGTH = 256
/** Deeper values are not read, and would exhaust the stack when they are serialized. */
const MAX_DEPTH = 64

/** Maximum number of matches in a text that are examined. A body of 1,000 changes has fewer. */
const MAX_MATCHES = 10_000

const PHONE_NUMBER_IDS = /"phone_number_id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g
const IDS = /"id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g

/**
 * The changes of a callback. A change belongs to its phone number, or (templates) to the business account of its entry.
 */
export function readChanges(envelope: JsonObject): IdentifiedChange[] {
  return asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map((change) => ({ entry, change, id: readId(entry, change) })),
  )
}

/** The distinct ids that the changes name, in their order, `limit` at most. */
export function namedIds(changes: readonly IdentifiedChange[], limit: number): NamedId[] {
  const ids = changes.flatMap(({ id }) => id ?? [])
  return countDistinct(ids, limit)
}

/**
 * Finds possible ids in the text of a callback without parsing it; parsing takes a hundred times as long as this and as
 * verifying the signature. Phone numbers come first. Ids with JSON escapes are not found.
 */
export function scanIds(text: string, limit: number): NamedId[] {
  const numbers = countDistinct(findAll(text, PHONE_NUMBER_IDS, 'phone_number_id'), limit)
  const accounts = countDistinct(findAll(text, IDS, 'business_account_id'), limit - numbers.length)
  return [...numbers, ...accounts]
}

/** The id as a key of a map. */
export function keyOfId({ kind, value }: UpstreamId): string {
  return `${kind} ${value}`
}

/** The body of a callback that holds only the given changes. */
export function bodyOf(envelope: JsonObject, changes: readonly IdentifiedChange[]): Buffer {
  const part = { ...envelope, entry: changes.map(({ entry, change }) => ({ ...entry, changes: [change] })) }
  return Buffer.from(JSON.stringify(isDeeperThan(part, MAX_DEPTH) ? toStorableDeep(part) : part))
}

function readId(entry: JsonObject, change: JsonObject): UpstreamId | null {
  const phoneNumberId = asText(asObject(asObject(change.value).metadata).phone_number_id)
  if (phoneNumberId !== null) return isId(phoneNumberId) ? { kind: 'phone_number_id', value: phoneNumberId } : null
  const accountId = asText(entry.id)
  return accountId !== null && isId(accountId) ? { kind: 'business_account_id', value: accountId } : null
}

function isId(value: string): boolean {
  return value.length <= MAX_ID_LENGTH && isStorable(value)
}

function* findAll(text: string, pattern: RegExp, kind: UpstreamId['kind']): Iterable<UpstreamId> {
  let remaining = MAX_MATCHES
  for (const [, value = ''] of text.matchAll(pattern)) {
    if (remaining-- === 0) return
    if (isId(value)) yield { kind, value }
  }
}

function countDistinct(ids: Iterable<UpstreamId>, limit: number): NamedId[] {
  const counted = new Map<string, NamedId>()
  for (const id of ids) {
    const key = keyOfId(id)
    const known = counted.get(key)
    if (known !== undefined) known.changes++
    else if (counted.size < limit) counted.set(key, { ...id, changes: 1 })
  }
  return [...counted.values()]
}
