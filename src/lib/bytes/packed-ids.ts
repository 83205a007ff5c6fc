const ID_BYTES = 16

/** A long list of UUIDs, of 16 bytes each. */
export class PackedIds {
  readonly #bytes: Buffer

  /** `bytes`: those of the UUIDs, one after the other. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get length(): number {
    return this.#bytes.length / ID_BYTES
  }

  /** Those from `start` to before `end`, as hexadecimal digits without hyphens, which PostgreSQL reads as well. */
  slice(start: number, end: number): string[] {
    const bytes = this.#bytes.subarray(start * ID_BYTES, end * ID_BYTES)
    return Array.from({ length: bytes.length / ID_BYTES }, (_, n) =>
      bytes.toString('hex', n * ID_BYTES, (n + 1) * ID_BYTES),
    )
  }
}
