import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { request } from 'undici'
import { numberOf } from '../data.js'
import { memoryOf, peakMemoryOf, resetPeakMemory } from '../processes.js'
import type { World } from '../world.js'

/** What sending large documents takes of the service's memory: RSS in MB of 1,000,000 bytes. */
export interface MediaMemory {
  /** After a first small document, without traffic. */
  idleMb: number
  /** How far above that it rises at most while one document of 100 MB is sent. */
  oneMb: number
  /** The same of ten at once. */
  tenMb: number
}

const SMALL_BYTES = 10_000
/** The largest that is taken (contract 4). */
const LARGE_BYTES = 100 * 1_048_576
const AT_ONCE = 10
const IDLE_MS = 10_000
const CHUNK_BYTES = 65_536

/** `POST /send-chat` with documents of 100 MB: one, then ten at once. `env`: further settings of the service. */
export async function measureMedia(world: World, env: Record<string, string> = {}): Promise<MediaMemory> {
  await keepUploads(world, false)
  const files = await startFileServer()
  const service = await world.startService({ PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8', ...env })
  const send = (count: number, size: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => sendDocument(world, service.url, files, index, size)))
  const peakDuring = async (count: number) => {
    resetPeakMemory(service.pid)
    await send(count, LARGE_BYTES)
    return peakMemoryOf(service.pid)
  }

  await send(1, SMALL_BYTES)
  await setTimeout(IDLE_MS)
  const idleMb = memoryOf(service.pid)
  const oneMb = (await peakDuring(1)) - idleMb
  const tenMb = (await peakDuring(AT_ONCE)) - idleMb

  await service.stop()
  files.closeAllConnections()
  files.close()
  await keepUploads(world, true)
  return { idleMb, oneMb, tenMb }
}

/** Whether the simulator keeps what is uploaded: more than a gigabyte would lie there for nothing. */
async function keepUploads({ sandboxUrl }: World, keep_media: boolean): Promise<void> {
  const answer = await request(`${sandboxUrl}/_sim/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ keep_media }),
  })
  await answer.body.dump()
  if (answer.statusCode !== 200) throw new Error(`the simulator's settings: HTTP ${answer.statusCode}`)
}

/** Serves `/{bytes}.pdf`: a document of that size, made while it is sent. */
async function startFileServer(): Promise<Server> {
  const server = createServer(({ url = '' }, response) => {
    const size = Number.parseInt(url.slice(1), 10)
    response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': size })
    Readable.from(documentOf(size)).pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** The start of a PDF file, then empty lines. */
function* documentOf(size: number): Generator<Buffer> {
  const head = Buffer.from('%PDF-1.4\n')
  const filler = Buffer.alloc(CHUNK_BYTES, '\n')
  yield head
  for (let left = size - head.length; left > 0; left -= filler.length) yield filler.subarray(0, left)
}

async function sendDocument(
  { organization }: World,
  serviceUrl: string,
  files: Server,
  recipient: number,
  size: number,
): Promise<void> {
  const { port } = files.address() as AddressInfo
  const answer = await request(`${serviceUrl}/send-chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      phone_number: `+${numberOf(recipient)}`,
      message_type: 'document',
      media_url: `http://127.0.0.1:${port}/${size}.pdf`,
    }),
    headersTimeout: 0,
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`a document was not sent: HTTP ${answer.statusCode} ${text}`)
}
