/** An error that an operator can fix; the message is one line with the problem, the value and the remedy. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError'
}

/** The error for a folder that another live process serves; `pid` is that process, if known. */
export function folderInUse(folder: string, pid?: number): EmbeddedDatabaseError {
  const holder = pid === undefined ? 'another process' : `another parley process (${pid})`
  return new EmbeddedDatabaseError(
    `database folder ${folder} is in use by ${holder}: stop it first, or set another PARLEY_DATA_DIR`,
  )
}
