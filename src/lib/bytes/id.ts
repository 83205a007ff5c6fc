import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

// Random numbers are drawn for hundreds of ids at once, because one draw costs several times as much as an id.
const drawn = new Uint32Array(1024)
let used = drawn.length
const generator = new V7Generator({ nextUint32 })

/** The length of the time at the beginning of a UUIDv7. */
const PREFIX_LENGTH = 13

/** Sorts before every other UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Sorts after every other UUID. */
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** A new UUIDv7 in lower case; ids of one process sort by the time of creation. */
export function newId(): string {
  return generator.generate().toString()
}

/** A new UUIDv7 that sorts as if it had been created at `time`. */
export function idAt(time: Date): string {
  return idBefore(time).slice(0, PREFIX_LENGTH) + newId().slice(PREFIX_LENGTH)
}

/** Sorts before every id that is created at `time` or later. */
export function idBefore(time: Date): string {
  const ms = time.getTime().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`
}

/** True if `value` is a UUID of any version, in either case. */
export function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
}

function nextUint32(): number {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  return drawn[used++] as number
}
