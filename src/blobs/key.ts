/** Throws unless `key` is one that a blob store takes: what is no plain path of ours never reaches a disk or a bucket. */
export function requireKey(key: string): void {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(key)) {
    throw new Error(
      `${JSON.stringify(key)} is not a blob key: expected lower-case letters, digits and - between slashes`,
    )
  }
}
