import type { FileHandle } from 'node:fs/promises'
import { fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl'
import { MEBIBYTE } from '../text/units.js'

/** Enough for every document; what ends the reading of a hostile directory. Bytes: of all names together. */
const MAX_ENTRIES = 10_000
const MAX_NAME_BYTES = MEBIBYTE

/**
 * The names of the files in a zip file, by its directory (which is at its end, whatever stands before). Nothing is
 * unpacked. Empty when there is no directory; of one that is damaged, the names before the damage.
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
    // A failing disk is no property of the file.
    if ((error as NodeJS.ErrnoException).syscall) throw error
  }
  return names
}

/** The library's own reader throws where nobody can catch it when a directory points beyond what a number can hold. */
class HandleReader extends RandomAccessReader {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    super()
    this.#file = file
  }

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
