import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isDiskFull } from '../../lib/files/disk.js'
import { ignoring } from '../../lib/files/ignoring.js'
import { syncFolder } from '../../lib/files/sync-folder.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { CliFailure } from '../failure.js'
import type { Streams } from '../invocation.js'
import type { Write } from './archive.js'

/** Stands for standard output or input in place of a file. */
export const STANDARD = '-'

/** Writes to standard output. */
export function writeTo({ stdout }: Streams): Write {
  if ((stdout as { isTTY?: boolean }).isTTY) throw new CliFailure(2, 'Standard output is a terminal: name a file')
  return (chunk) =>
    new Promise((done, fail) => {
      stdout.write(chunk, (error) => {
        if (!error) return done()
        const isUnread = (error as NodeJS.ErrnoException).code === 'EPIPE'
        fail(
          isUnread ? new CliFailure(1, 'Standard output was not read to its end: the archive is not complete') : error,
        )
      })
    })
}

/** Writes beside the file, which is there only when it is complete. */
export async function writeFile<Taken>(
  file: string,
  replace: boolean,
  takeTo: (write: Write) => Promise<Taken>,
): Promise<Taken> {
  const found = await lstat(file).catch(ignoring('ENOENT'))
  if (found && !found.isFile()) throw new CliFailure(2, `${file} is not a file: name one`)
  if (found && !replace) throw new CliFailure(1, `${file} exists: name another file, or replace it with --replace`)
  const draft = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  const output = await open(draft, 'wx', 0o600).catch((error: Error) => {
    throw new CliFailure(1, `${file} cannot be written: ${error.message}`)
  })
  try {
    const taken = await takeTo((chunk) => output.writeFile(chunk))
    await output.sync()
    await output.close()
    await rename(draft, file)
    await syncFolder(dirname(file))
    return taken
  } catch (error) {
    await output.close()
    await rm(draft, { force: true })
    throw error
  }
}

/** The bytes of an archive; `writer`: the command that writes such. */
export async function openArchive(
  name: string,
  { stdin }: Streams,
  writer: string,
): Promise<AsyncIterable<Uint8Array>> {
  if (name === STANDARD) {
    if (stdin.isTTY) throw new CliFailure(2, 'Standard input is a terminal: name a file')
    return stdin as AsyncIterable<Uint8Array>
  }
  const file = resolve(name)
  const found = await stat(file).catch(ignoring('ENOENT'))
  if (!found || found.isDirectory())
    throw new CliFailure(2, `There is no archive at ${file}: name a file that ${writer} has written`)
  return readFile(file)
}

/** Opens the file only when it is read. */
async function* readFile(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: MEBIBYTE })
}

/** Says what to do when there is no room left for `what`. */
export async function explained<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isDiskFull(error)) throw error
    throw new CliFailure(1, `The disk is full, and ${what} was not written: make room and run the command again`)
  }
}
