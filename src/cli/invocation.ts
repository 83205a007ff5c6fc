/** The variables that a command was started with. */
export type Environment = Record<string, string | undefined>

/** The command's input and output, usually those of the process. */
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
