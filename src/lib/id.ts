import { uuidv7 } from 'uuidv7'

/** A new UUIDv7 in lower case: ids made later sort after those made earlier in the same process (contract 7). */
export function newId(): string {
  return uuidv7()
}

/** Tells whether `value` is written as a UUID, of any version and in either case. */
export function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
}
