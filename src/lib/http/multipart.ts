import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'

/** The file of a form, read while the form is sent. */
export interface MultipartFile {
  /** The name sent to the receiver; plain ASCII without quotes. */
  filename: string
  mimeType: string
  /** Bytes. */
  size: number
  /** Called once, when the file is sent. */
  open: () => Readable
}

/** A form, ready to send. */
export interface MultipartForm {
  headers: { 'content-type': string; 'content-length': string }
  body: Readable
}

/**
 * A `multipart/form-data` form of text fields and, last, one file named `file`. The file is never held in memory, and
 * the length is known in advance, so no chunked body is necessary.
 */
export function multipartForm(fields: Record<string, string>, file: MultipartFile): MultipartForm {
  const boundary = `form-${randomBytes(16).toString('hex')}`
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const fileHead =
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.filename}"\r\n` +
    `content-type: ${file.mimeType}\r\n\r\n`
  const head = Buffer.from(texts.join('') + fileHead)
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.size + tail.length),
    },
    body: Readable.from(joined(head, file, tail), { objectMode: false }),
  }
}

/** Throws if the file's length is not as given, because the form's length has been sent already. */
async function* joined(head: Buffer, file: MultipartFile, tail: Buffer): AsyncGenerator<Buffer> {
  yield head
  let left = file.size
  for await (const chunk of file.open() as AsyncIterable<Buffer>) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left !== 0) throw new Error(`the file is not the ${file.size} bytes long that it was said to be`)
  yield tail
}
