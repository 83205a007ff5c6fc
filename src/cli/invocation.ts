/** The variables that a command was started with. */
export type Environment = Record<string, string | undefined>

/** What a command reads and where it writes; a process is one. */
export interface Streams {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** One call of the program. */
export interface Invocation {
  env: Environment
  streams: Streams
}
