import { asObject, asObjects, asText, isDeeperThan, type JsonObject } from '../../../lib/text/json.js'
import { isStorable, toStorableDeep } from '../../../lib/text/text.js'
import type { UpstreamId } from '../../../storage/organizations/organizations.js'

/** An id that a callback names, and how many of its changes it is named by. */
export type NamedId = UpstreamId & { changes: number }

/** A change of a callback with the id that says whose it is; null where it names none. */
export interface IdentifiedChange {
  entry: JsonObject
  change: JsonObject
  id: UpstreamId | null
}

/** Longer ids are nobody's. */
const MAX_ID_LENGTH = 256
/** What nests deeper is not read anyway, and cannot be written again without running out of stack. */
const MAX_DEPTH = 64

/** So many places of a text are looked at: more than a body of 1,000 changes has of numbers. */
const MAX_MATCHES = 10_000

const PHONE_NUMBER_IDS = /"phone_number_id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g
const IDS = /"id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g

/** The changes of a callback. Each goes by its phone number, else (templates) by the business account of its entry. */
export function readChanges(envelope: JsonObject): IdentifiedChange[] {
  return asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map((change) => ({ entry, change, id: readId(entry, change) })),
  )
}

/** The ids that changes name, in their order, each once; `limit`: at most so many. */
export function namedIds(changes: readonly IdentifiedChange[], limit: number): NamedId[] {
  const ids = changes.flatMap(({ id }) => id ?? [])
  return countDistinct(ids, limit)
}

/**
 * What may be an id that the callback in `text` names, without parsing it, which takes a hundred times as long as this and as
 * checking a signature. Phone numbers come first. An id in JSON escapes is not found.
 */
export function scanIds(text: string, limit: number): NamedId[] {
  const numbers = countDistinct(findAll(text, PHONE_NUMBER_IDS, 'phone_number_id'), limit)
  const accounts = countDistinct(findAll(text, IDS, 'business_account_id'), limit - numbers.length)
  return [...numbers, ...accounts]
}

/** An id as a key of maps. */
export function keyOfId({ kind, value }: UpstreamId): string {
  return `${kind} ${value}`
}

/** The bytes of a callback that holds only some changes of the one in `envelope`. */
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
