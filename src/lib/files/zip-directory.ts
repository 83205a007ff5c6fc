import type { FileHandle } from 'node:fs/promises'
import { fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl'
import { MEBIBYTE } from '../text/units.js'

/** Enough for every document; bounds the reading of a hostile directory. MAX_BYTES counts all names together. */
const MAX_ENTRIES = 10_000
const MAX_NAME_BYTES = MEBIBYTE

/**
 * The names of the files in a zip file, from its directory (at the end of the file). Nothing is unpacked. Empty if
 * there is no directory; up to the damage if it is damaged.
 */
export async function namesInZip(file: FileHandle, size: number): Promise<string[]> {
  const names: string[] = []
  let bytes = 0
  try {
    const options = { lazyEntries: true, decodeStrings: false }
    const zip = await fromRandomAccessReaderPromise(new HandleReader(file), size, options)
    for await (const { fileNameRaw } of zip.eachEntry()) {
      bytes += fileNameRaw.length
      if (bytes > MAX_NAME_BYTES || names.length === MAX_ENTRIES) break
      names.push(fileNameRaw.toString('utf8'))
    }
  } catch (error) {
    // A failing disk says nothing about the file.
    if ((error as NodeJS.ErrnoException).syscall) throw error
  }
  return names
}

/** The library's own reader throws uncaught if a directory points beyond the largest safe integer. */
class HandleReader extends RandomAccessReader {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    super()
    this.#file = file
  }

  // biome-ignore lint/complexity/useMaxParams: the library calls it so.
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#file.read(buffer, offset, length, position).then(({ bytesRead }) => callback(null, bytesRead), callback)
  }
}
