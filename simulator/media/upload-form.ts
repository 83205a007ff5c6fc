import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'

/** What was read of a form. */
export interface UploadForm<File> {
  /** Whether the body was a form and had its end. */
  isComplete: boolean
  fields: Map<string, string>
  /** What became of the part that is called `file`; null when there is none, or when it broke off. */
  file: File | null
}

/** Reads the part that is called `file`; `mimeType` is the part's own, without parameters. */
export type FileReader<File> = (bytes: AsyncIterable<Buffer>, mimeType: string) => Promise<File>

const limits = { fields: 10, fieldSize: 1_024 }

/**
 * Reads a `multipart/form-data` body as it comes in; what is no form is read and dropped. Rejects when the file cannot
 * be written.
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
    parser.on('file', (name, bytes, _filename, _encoding, mimeType) => {
      // An error may come while nobody reads, and would end the process if nobody listened.
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
