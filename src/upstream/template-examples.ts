import { createReadStream } from 'node:fs'
import { startCountdown } from '../lib/async/timeout.js'
import { asText } from '../lib/text/json.js'
import { readId } from './answer.js'
import type { Connection, UpstreamAccess } from './connection.js'
import { perform, type TemplateFailure } from './manage-templates.js'
import type { UploadFile } from './media.js'

/** The outcome of uploading an example file. */
export type UploadExampleOutcome = { outcome: 'uploaded'; handle: string } | TemplateFailure

/** A session holds letters, digits and the signs of base64, and may end in a query. */
const SESSION = /^upload:[\w=+/:.-]+(\?[\w=+/:.&%-]*)?$/
const MAX_HANDLE_LENGTH = 4_096

/**
 * Uploads an example file of a template under the app of the access token, waiting at most `timeoutMs`. Never throws. A
 * failed upload can be repeated: at worst an unused file stays at the upstream.
 */
export async function uploadExample(
  connection: Connection,
  access: UpstreamAccess,
  { path, size, mimeType, extension }: UploadFile,
  timeoutMs: number,
): Promise<UploadExampleOutcome> {
  const leftMs = startCountdown(timeoutMs)
  const { accessToken } = access
  const app = await perform(
    connection,
    access,
    { call: { method: 'GET', path: '/app' }, timeoutMs: leftMs() },
    ({ body }) => {
      const id = readId(body?.id)
      return id === null ? null : { outcome: 'known' as const, id }
    },
  )
  if (app.outcome !== 'known') return app
  const query = new URLSearchParams({
    file_name: `example.${extension}`,
    file_length: String(size),
    file_type: mimeType,
  })
  const begin = { method: 'POST', path: `/${encodeURIComponent(app.id)}/uploads?${query}` } as const
  const session = await perform(connection, access, { call: begin, timeoutMs: leftMs() }, ({ body }) => {
    const id = readId(body?.id)
    return id !== null && SESSION.test(id) ? { outcome: 'begun' as const, id } : null
  })
  if (session.outcome !== 'begun') return session
  const headers = {
    // Only this call has another scheme than Bearer.
    authorization: `OAuth ${accessToken}`,
    'content-type': 'application/octet-stream',
    'content-length': String(size),
    file_offset: '0',
  }
  // The path is as the upstream gave it, because its query is signed; so there is no proof in it.
  const call = { method: 'POST', path: `/${session.id}`, headers, body: createReadStream(path) } as const
  return perform(connection, { accessToken }, { call, timeoutMs: leftMs() }, ({ body }) => {
    const handle = asText(body?.h)
    return handle !== null && handle.length <= MAX_HANDLE_LENGTH ? { outcome: 'uploaded' as const, handle } : null
  })
}
