/** Throws unless `key` is valid, so that no other path reaches a disk or bucket. */
export function requireKey(key: string): void {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(key)) {
    throw new Error(
      `${JSON.stringify(key)} is not a blob key: expected lower-case letters, digits and - between slashes`,
    )
  }
}
