import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

// Random numbers are drawn for hundreds of ids at once: a draw costs several times what an id does.
const drawn = new Uint32Array(1024)
let used = drawn.length
const generator = new V7Generator({ nextUint32 })

/** A new UUIDv7 in lower case: ids made later sort after those made earlier in the same process (contract 7). */
export function newId(): string {
  return generator.generate().toString()
}

/** Tells whether `value` is written as a UUID, of any version and in either case. */
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
