/** Ends a command with one clear line on standard error: 1 = it failed, 2 = wrong usage or configuration (contract 1). */
export class CliFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.name = 'CliFailure'
    this.exitCode = exitCode
  }
}
