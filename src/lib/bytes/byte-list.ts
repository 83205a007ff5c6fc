/** A growing buffer in one piece of memory. */
export interface ByteList {
  length(): number
  /** Copies the bytes. */
  add(bytes: Buffer): void
  /** The bytes from a position on; valid until the next change. */
  from(start: number): Buffer
  /** Removes the bytes from a position on. */
  cut(start: number): void
}

const FIRST_BYTES = 1_024

export function createByteList(): ByteList {
  let memory = Buffer.allocUnsafe(FIRST_BYTES)
  let length = 0

  return {
    length: () => length,
    add: (bytes) => {
      if (length + bytes.length > memory.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * memory.length, length + bytes.length))
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      bytes.copy(memory, length)
      length += bytes.length
    },
    from: (start) => memory.subarray(start, length),
    cut: (start) => {
      length = start
    },
  }
}
