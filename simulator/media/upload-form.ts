import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'

/** The parts of an upload form. */
export interface UploadForm<File> {
  /** True if the body was a form and was read to its end. */
  isComplete: boolean
  fields: Map<string, string>
  /** The result of reading the part `file`; null if there is none or it broke off. */
  file: File | null
}

/** Reads the part `file`; `mimeType` is the part's own, without parameters. */
export type FileReader<File> = (bytes: AsyncIterable<Buffer>, mimeType: string) => Promise<File>

const limits = { fields: 10, fieldSize: 1_024 }

/**
 * Reads a `multipart/form-data` body as it arrives; another body is read and discarded. Rejects if the file cannot be
 * written.
 */
export function readUploadForm<File>(
  contentType: string,
  body: Readable,
  readFile: FileReader<File>,
): Promise<UploadForm<File>> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>()
    let source: BusboyFileStream | null = null
    let reading: Promise<File | null> = Promise.resolve(null)

    const finish = (isComplete: boolean) => {
      reading.then((file) => resolve({ isComplete, fields, file }), reject)
    }
    const abort = (error: Error) => {
      body.unpipe()
      body.resume()
      source?.destroy(error)
      finish(false)
    }
    const parser = createParser(contentType)
    if (!parser) {
      abort(new Error('Not a form'))
      return
    }
    parser.on('field', (name, value) => fields.set(name, value))
    parser.on('file', (name, bytes, ...[, , mimeType]) => {
      // An error may occur before anything reads the stream. Without a listener it would end the process.
      bytes.on('error', abort)
      if (name !== 'file' || source) {
        bytes.resume()
        return
      }
      source = bytes
      reading = readFile(bytes, mimeType).catch((error) => {
        if (isOfFileSystem(error)) throw error
        return null
      })
      reading.catch(abort)
    })
    parser.once('finish', () => finish(true))
    parser.on('error', (error) => abort(error as Error))
    body.once('close', () => {
      if (!body.readableEnded) abort(new Error('The connection broke off'))
    })
    body.pipe(parser)
  })
}

function createParser(contentType: string) {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits })
  } catch {
    return null
  }
}

function isOfFileSystem(error: NodeJS.ErrnoException): boolean {
  return error.syscall !== undefined
}
