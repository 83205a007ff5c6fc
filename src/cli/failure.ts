/** Ends a command with one line on standard error. Code 1: it failed; 2: wrong usage or configuration. */
export class CliFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.name = 'CliFailure'
    this.exitCode = exitCode
  }
}

/** The process was asked to end during its start; nothing failed. */
export class AskedToEnd extends Error {
  override readonly name = 'AskedToEnd'
}

/** An uncaught error has ended a command and was already reported. */
export class EndedByFault extends Error {
  override readonly name = 'EndedByFault'
}
