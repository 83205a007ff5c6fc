import { answerCheck } from './openapi.js'
import type { Answer, TestOrganization, World } from './world.js'

/** How a file is uploaded. */
interface Upload {
  /** The name in the query. */
  filename?: string
  headers?: Record<string, string>
}

/** `POST /media` with the file as the body, or with a form; the answer is compared with its description. */
export async function postMedia(
  world: World,
  { key }: Pick<TestOrganization, 'key'>,
  body: Buffer | FormData | ReadableStream,
  { filename, headers = {} }: Upload = {},
): Promise<Answer> {
  const query = filename === undefined ? '' : `?${new URLSearchParams({ filename })}`
  const response = await fetch(`${world.app.url}/media${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
    duplex: 'half',
  } as RequestInit)
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  const check = await answerCheck((path) => world.request('GET', path))
  check('POST', '/media', answer)
  return answer
}

/** Uploads a file, which must succeed; resolves to its id. */
export async function uploadFile(
  world: World,
  organization: Pick<TestOrganization, 'key'>,
  bytes: Buffer,
  filename?: string,
): Promise<string> {
  const { status, body } = await postMedia(world, organization, bytes, filename === undefined ? {} : { filename })
  if (status !== 201) throw new Error(`POST /media: ${status} ${JSON.stringify(body)}`)
  return body.media.id
}
