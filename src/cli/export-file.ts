import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Option } from 'commander'
import { CliFailure } from './failure.js'
import type { Streams } from './invocation.js'

/** `--format` of an export. */
export function formatOption(): Option {
  return new Option('--format <format>').choices(['csv', 'json']).default('csv')
}

/** Writes the parts of a document to a file, or to standard output where none is named. Throws a CliFailure of code 1. */
export async function writeDocument(
  { stdout }: Streams,
  parts: AsyncIterable<string | Buffer>,
  output: string | undefined,
): Promise<void> {
  const source = Readable.from(parts, { objectMode: false })
  if (output === undefined) {
    await pipeline(source, stdout, { end: false }).catch(ignoreClosedReader)
    return
  }
  await pipeline(source, createWriteStream(output)).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined || error.path !== output) throw error
    throw new CliFailure(1, `${output} cannot be written: ${error.message}`)
  })
}

/** Whoever reads may stop reading. */
function ignoreClosedReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}
