import { setTimeout } from 'node:timers/promises'
import { numberOf } from '../data.js'
import { startFileServer } from '../file-server.js'
import { memoryOf, peakMemoryOf, resetPeakMemory } from '../processes.js'
import type { World } from '../world.js'

/** The memory that sending large documents uses: RSS in MB of 1,000,000 bytes. */
export interface MediaMemory {
  /** After a first small document, without traffic. */
  idleMb: number
  /** The peak above that while one document of 100 MB is sent. */
  oneMb: number
  /** The same for ten at once. */
  tenMb: number
}

const SMALL_BYTES = 10_000
/** The maximum accepted size. */
const LARGE_BYTES = 100 * 1_048_576
const AT_ONCE = 10
const IDLE_MS = 10_000

/** Measures `POST /send-chat` with documents of 100 MB: one, then ten at once. */
export async function measureMedia(world: World): Promise<MediaMemory> {
  const files = await startFileServer()
  const service = await world.startService({ PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8' })
  const send = (count: number, size: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => sendDocument(world, service.url, index, files.urlOf('pdf', size))),
    )
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
  await files.close()
  return { idleMb, oneMb, tenMb }
}

async function sendDocument(
  { organization }: World,
  serviceUrl: string,
  recipient: number,
  mediaUrl: string,
): Promise<void> {
  const answer = await fetch(`${serviceUrl}/send-chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      phone_number: `+${numberOf(recipient)}`,
      message_type: 'document',
      media_url: mediaUrl,
    }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`a document was not sent: HTTP ${answer.status} ${text}`)
}
