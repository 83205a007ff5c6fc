import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ReadableStream } from 'node:stream/web'
import { createTarDecoder, createTarPacker, type TarHeader } from 'modern-tar'
import { withTimeout } from '../../lib/async/timeout.js'
import { ignoring } from '../../lib/files/ignoring.js'
import { makeFolder } from '../../lib/files/make-folder.js'
import { readAt } from '../../lib/files/read-at.js'
import { syncFolder } from '../../lib/files/sync-folder.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'

// An archive is a tar file. The names of its members are paths in the data folder, but for the last one, the seal. The
// export of an organization (cli/moving) is one too, with other members.

/** What a backup is of. */
export interface BackupHead {
  /** Of this form of archive. */
  format: 1
  /** The version of Parley. */
  parley: string
  /** The point that a restore leads to, ISO 8601. */
  point: string
  /** Whether files of messages are in it; false: they are in a bucket. */
  hasMedia: boolean
}

/** An archive is complete if this is its last member, with the SHA-256 of the others: their names, sizes and content. */
type Sealed<Head> = Head & { sha256: string }

/** Takes the next bytes of an archive. */
export type Write = (chunk: Uint8Array) => Promise<void>

/** An archive that is being written. The content of a member has exactly its size; the name of a folder ends with `/`. */
export interface Archive<Head = BackupHead> {
  add(name: string, size: number, content: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<void>
  /** Adds a file as it is now; false: it has gone. */
  addFile(name: string, path: string): Promise<boolean>
  /** Ends the archive. */
  seal(head: Head): Promise<void>
}

/** How the archives of a kind differ. */
export interface ArchiveKind {
  /** What it is called, as in "the backup was given up". */
  name: string
  /** The name of its last member. */
  seal: string
  /** The names of the others. */
  members: RegExp
}

const BACKUP: ArchiveKind = {
  name: 'backup',
  seal: 'backup.json',
  members: /^(postgres|media)\/.|^(secrets|up)\.json$/,
}
/** A part of a path that leads elsewhere. */
const AWAY = /(^|\/)\.{0,2}(\/|$)/
/** While a backup runs, the database keeps its log and files of messages are not removed: one that hangs is given up. */
const STALLED_MS = 10 * 60_000

/** Begins an archive; its methods throw a CliFailure if `write` does not end within `stalledMs`. */
export function beginArchive<Head extends { format: 1 } = BackupHead>(
  write: Write,
  progress: Progress,
  stalledMs = STALLED_MS,
  kind = BACKUP,
): Archive<Head> {
  const { readable, controller } = createTarPacker()
  const written = writeAll(readable, write)
  written.catch(() => undefined)
  const inTime = async (work: Promise<void>) => {
    const done = Promise.race([work, written]).then(() => true)
    if ((await withTimeout(done, stalledMs)) === null)
      throw new CliFailure(
        1,
        `Nothing could be written for ${stalledMs / 60_000} minutes: the ${kind.name} was given up`,
      )
  }
  const hash = createHash('sha256')
  const add: Archive['add'] = async (name, size, content) => {
    hash.update(nameAndSize(name, size))
    const kind = name.endsWith('/') ? ({ type: 'directory', mode: 0o700 } as const) : { mode: 0o600 }
    const member = controller.add({ name, size, ...kind }).getWriter()
    for await (const chunk of content) {
      hash.update(chunk)
      await inTime(member.write(chunk))
    }
    await inTime(member.close())
    progress.advance(1)
  }
  return {
    add,
    addFile: async (name, path) => {
      const file = await open(path).catch(ignoring('ENOENT'))
      if (!file) return false
      try {
        const { size } = await file.stat()
        await add(name, size, readExactly(file, size))
      } finally {
        await file.close()
      }
      return true
    },
    seal: async (head) => {
      const seal: Sealed<Head> = { ...head, sha256: hash.copy().digest('hex') }
      const content = Buffer.from(`${JSON.stringify(seal)}\n`)
      await add(kind.seal, content.length, [content])
      controller.finalize()
      await inTime(written)
    },
  }
}

async function writeAll(chunks: globalThis.ReadableStream<Uint8Array>, write: Write): Promise<void> {
  const reader = chunks.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) await write(next.value)
}

/** A file that grows meanwhile is cut, and one that is cut is filled up: PostgreSQL's log mends both. */
async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const length = Math.min(MEBIBYTE, size - at)
    const read = await readAt(file, at, length)
    const chunk = read.length > 0 ? read : Buffer.alloc(length)
    yield chunk
    at += chunk.length
  }
}

/**
 * Unpacks an archive into the folder `target` and checks it meanwhile. With `scratch` nothing is made durable, and files
 * of messages get their size without their bytes. Throws a CliFailure if the archive is damaged, incomplete or none.
 */
export async function unpackArchive(
  input: AsyncIterable<Uint8Array>,
  target: string,
  progress: Progress,
  { scratch }: { scratch: boolean },
): Promise<BackupHead> {
  const folders = new Set<string>()
  const seal = await readArchive<BackupHead>(input, BACKUP, async ({ name, size, type }, content) => {
    const path = join(target, name)
    const folder = type === 'directory' ? path : dirname(path)
    if (!folders.has(folder)) await makeFolder(folder, 0o700)
    folders.add(folder)
    if (type === 'directory') return
    const file = await open(path, 'wx', 0o600)
    try {
      const hasBytes = !(scratch && name.startsWith('media/'))
      for await (const chunk of content) if (hasBytes) await file.writeFile(chunk)
      if (!hasBytes) await file.truncate(size)
      if (!scratch) await file.sync()
    } finally {
      await file.close()
    }
    progress.advance(1)
  })
  if (!scratch) for (const folder of folders) await syncFolder(folder)
  return seal
}

/**
 * Passes each member of an archive to `take`, which reads its content to the end. Resolves to the seal: only then is it
 * certain that all of it is as it was written. Throws a CliFailure if the archive is damaged, incomplete or none.
 */
export async function readArchive<Head extends { format: 1 }>(
  input: AsyncIterable<Uint8Array>,
  kind: ArchiveKind,
  take: (header: TarHeader, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<Head> {
  const hash = createHash('sha256')
  let seal: Sealed<Head> | undefined
  const damaged = (reason: string) => damagedArchive(kind, reason)
  const members = ReadableStream.from(input).pipeThrough(createTarDecoder({ strict: true }))
  for await (const { header, body } of intact(members, damaged)) {
    const { name, size } = header
    if (seal !== undefined) throw damaged(`${JSON.stringify(name)} follows its end`)
    const content = intact(body, damaged)
    if (name === kind.seal) {
      seal = readSeal<Head>(await text(content), kind)
      if (seal.sha256 !== hash.digest('hex')) throw damaged('its content was changed')
      continue
    }
    requireOurs(header, kind)
    hash.update(nameAndSize(name, size))
    await take(header, hashed(content, hash))
  }
  if (seal === undefined) throw damaged('it ends early')
  return seal
}

async function* hashed(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
}

function requireOurs({ name, type }: TarHeader, kind: ArchiveKind): void {
  const path = type === 'directory' ? name.replace(/\/$/, '') : name
  const isOurs = kind.members.test(path) && !AWAY.test(path) && (type === 'directory' || type === 'file')
  if (!isOurs) throw damagedArchive(kind, `it holds ${JSON.stringify(name)}`)
}

function readSeal<Head extends { format: 1 }>(content: string, kind: ArchiveKind): Sealed<Head> {
  try {
    const seal: Sealed<Head> = JSON.parse(content)
    if (seal.format === 1) return seal
  } catch {
    // As if it had another format.
  }
  throw damagedArchive(kind, `its ${kind.seal} cannot be read`)
}

/** Passes on what the decoder yields. Its own errors are about the archive; those of the system have a code. */
async function* intact<Item>(
  stream: AsyncIterable<Item>,
  damaged: (reason: string) => CliFailure,
): AsyncGenerator<Item> {
  try {
    yield* stream
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw error
    throw damaged((error as Error).message)
  }
}

/** The failure of an archive that is not as it was written. */
export function damagedArchive({ name }: ArchiveKind, reason: string): CliFailure {
  return new CliFailure(1, `The archive is damaged, or no ${name} of Parley: ${reason}`)
}

/** What the SHA-256 reads of a member before its content. */
function nameAndSize(name: string, size: number): string {
  return JSON.stringify([name, size])
}
