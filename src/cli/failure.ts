/** Ends a command with one clear line on standard error: 1 = it failed, 2 = wrong usage or configuration (contract 1). */
export class CliFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.name = 'CliFailure'
    this.exitCode = exitCode
  }
}

/** Thrown where a start stops because the process was asked to end: nothing failed. */
export class AskedToEnd extends Error {
  override readonly name = 'AskedToEnd'
}

/** Thrown where an error that nothing caught has ended a command, which has said so already. */
export class EndedByFault extends Error {
  override readonly name = 'EndedByFault'
}
