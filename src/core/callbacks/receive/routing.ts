import { createSteps } from '../../../lib/async/steps.js'
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
/** How many of them are examined between two looks at the clock. */
const MATCHES_PER_LOOK = 500

const PHONE_NUMBER_IDS = /"phone_number_id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g
const IDS = /"id"\s{0,8}:\s{0,8}"([^"\\]{1,256})"/g

/**
 * The changes of a callback. A change belongs to its phone number, or (templates, the account) to a business account:
 * the one that it names, or that of its entry.
 */
export function readChanges(envelope: JsonObject): IdentifiedChange[] {
  return asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map((change) => ({ entry, change, id: readId(entry, change) })),
  )
}

/** The distinct ids that the changes name, in their order, `limit` at most. */
export function namedIds(changes: readonly IdentifiedChange[], limit: number): NamedId[] {
  const counted = new Map<string, NamedId>()
  for (const { id } of changes) if (id) count(counted, id, limit)
  return [...counted.values()]
}

/**
 * Finds possible ids in a callback without parsing it, in steps; parsing takes a hundred times as long as this and as
 * verifying the signature. Phone numbers come first. Ids with JSON escapes are not found.
 */
export async function scanIds(body: Buffer, limit: number): Promise<NamedId[]> {
  // One byte a character is much faster than UTF-8; the ids are decoded one by one.
  const text = body.toString('latin1')
  const numbers = await countMatches(text, PHONE_NUMBER_IDS, 'phone_number_id', limit)
  return [...numbers, ...(await countMatches(text, IDS, 'business_account_id', limit - numbers.length))]
}

async function countMatches(
  text: string,
  pattern: RegExp,
  kind: UpstreamId['kind'],
  limit: number,
): Promise<NamedId[]> {
  const counted = new Map<string, NamedId>()
  const step = createSteps()
  let matches = 0
  for (const [, found = ''] of text.matchAll(pattern)) {
    if (++matches > MAX_MATCHES) break
    if (matches % MATCHES_PER_LOOK === 0) await step()
    const value = Buffer.from(found, 'latin1').toString()
    if (isId(value)) count(counted, { kind, value }, limit)
  }
  return [...counted.values()]
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
  const value = asObject(change.value)
  const phoneNumberId = readNumberId(change.field, value)
  if (phoneNumberId !== null) return isId(phoneNumberId) ? { kind: 'phone_number_id', value: phoneNumberId } : null
  const accountId = readAccountId(change.field, value) ?? asText(entry.id)
  return accountId !== null && isId(accountId) ? { kind: 'business_account_id', value: accountId } : null
}

/** Two fields name their number elsewhere than the others; the entry alone would not tell which of an account's it is. */
function readNumberId(field: unknown, value: JsonObject): string | null {
  const named = asText(asObject(value.metadata).phone_number_id)
  if (named !== null) return named
  if (field === 'messaging_handovers') return asText(asObject(value.recipient).phone_number_id)
  if (field === 'account_settings_update') return asText(asObject(value.phone_number_settings).phone_number_id)
  return null
}

/**
 * What reports about partners have as the entry's id is the partner's portfolio, which belongs to nobody here. Some of
 * them have the field's name in another place.
 */
function readAccountId(field: unknown, value: JsonObject): string | null {
  return field === 'account_update' || field === undefined ? asText(asObject(value.waba_info).waba_id) : null
}

function isId(value: string): boolean {
  return value.length <= MAX_ID_LENGTH && isStorable(value)
}

/** Counts an id, unless it is new and there are `limit` others. */
function count(counted: Map<string, NamedId>, id: UpstreamId, limit: number): void {
  const key = keyOfId(id)
  const known = counted.get(key)
  if (known !== undefined) known.changes++
  else if (counted.size < limit) counted.set(key, { ...id, changes: 1 })
}
