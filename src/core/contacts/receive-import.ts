import type { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { receiveText } from '../../lib/files/receive-text.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'

/** How large a file of contacts may be, in bytes (contract 4). */
export const MAX_IMPORT_BYTES = 512 * MEBIBYTE

/** A file that has come whole. */
export interface Upload {
  path: string
  sha256: Buffer
}

/**
 * Takes a text whole into the spool, and hands it to `work`: an upload that breaks changes nothing. Throws payload_too_large, and
 * invalid_csv for what is not UTF-8.
 */
export function withUpload<Result>(
  ctx: Pick<Context, 'spool'>,
  source: Readable,
  work: (upload: Upload) => Promise<Result>,
): Promise<Result> {
  return ctx.spool.use(async (path) => {
    const received = await receiveText(source, path, MAX_IMPORT_BYTES)
    switch (received.outcome) {
      case 'received':
        return work({ path, sha256: received.sha256 })
      case 'too_big':
        throw tooLarge()
      case 'not_utf8':
        throw new Problem('invalid_csv', 'The file is not UTF-8: save it as "CSV UTF-8", not as a workbook')
      case 'broken_off':
        throw new Problem('invalid_csv', 'The file broke off before its end, and nothing was imported: send it again')
    }
  })
}

/** What a file answers that is larger than what is taken. */
export function tooLarge(): Problem {
  return new Problem('payload_too_large', `The file is larger than ${MAX_IMPORT_BYTES} bytes: import it in parts`)
}
