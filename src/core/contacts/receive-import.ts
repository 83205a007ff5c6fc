import type { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { receiveText } from '../../lib/files/receive-text.js'
import { makeUtf8 } from '../../lib/files/text-encoding.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'
import { sentence } from '../../model/sentence.js'

/** Maximum size of an import file in bytes. */
export const MAX_IMPORT_BYTES = 512 * MEBIBYTE

/** A complete uploaded file. */
export interface Upload {
  path: string
  sha256: Buffer
}

/**
 * Receives a text file into the spool and passes it to `work`, so an upload that breaks off changes nothing. A table is
 * rewritten as UTF-8 if it has another encoding of spreadsheets; JSON must be UTF-8. Throws payload_too_large, and
 * `invalid` if it is incomplete or no text.
 */
export function withUpload<Result>(
  ctx: Pick<Context, 'spool'>,
  source: Readable,
  work: (upload: Upload) => Promise<Result>,
  invalid: 'invalid_csv' | 'invalid_json' = 'invalid_csv',
): Promise<Result> {
  return ctx.spool.use(async (path) => {
    const received = await receiveText(source, path, MAX_IMPORT_BYTES)
    switch (received.outcome) {
      case 'received':
        if (invalid === 'invalid_csv') await readEncoding(ctx, path, received.isUtf8)
        else if (!received.isUtf8) throw new Problem(invalid, 'The file is not UTF-8')
        return work({ path, sha256: received.sha256 })
      case 'too_big':
        throw tooLarge()
      case 'broken_off':
        throw new Problem(
          invalid,
          'The upload ended before the file was complete, and nothing was imported: send it again',
        )
    }
  })
}

async function readEncoding(ctx: Pick<Context, 'spool'>, path: string, isUtf8: boolean): Promise<void> {
  const encoding = await ctx.spool.use((spare) => makeUtf8(path, isUtf8, spare))
  switch (encoding.outcome) {
    case 'utf8':
      return
    case 'not_text':
      throw new Problem('invalid_csv', sentence('not_text', {}))
    case 'damaged':
      throw new Problem('invalid_csv', sentence('mixed_encoding', { line: encoding.row }))
  }
}

export function tooLarge(): Problem {
  return new Problem('payload_too_large', `The file is larger than ${MAX_IMPORT_BYTES} bytes: import it in parts`)
}
