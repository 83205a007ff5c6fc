import { envelope, postBody, type WireMessage } from './callbacks.js'
import type { TestOrganization, World } from './world.js'

/** The own number of organizations in callbacks of histories. */
export const OWN_NUMBER = '12025550100'

/** A chunk of a history, with one thread. */
export interface Chunk {
  /** The number of the thread's person. */
  person: string
  messages: readonly WireMessage[]
  phase?: number
  progress?: number
}

/** The value of a change that posts a chunk. */
export function chunkOf({ person, messages, phase = 0, progress = 50 }: Chunk): object {
  const metadata = { phase, chunk_order: 1, progress }
  return { history: [{ metadata, threads: [{ id: person, messages }] }] }
}

/** A text message of a history; the business wrote it if `to` is given. */
export function pastText(id: string, timestamp: number, text: string, fields: WireMessage = {}): WireMessage {
  const { to, from, status = 'READ', ...rest } = fields
  const sides = to === undefined ? { from } : { from: OWN_NUMBER, to }
  return {
    ...sides,
    id,
    timestamp: String(timestamp),
    type: 'text',
    text: { body: text },
    history_context: { status },
    ...rest,
  }
}

/** Posts a change of a field for the organization's number. Throws if it is refused. */
export async function postField(
  world: World,
  organization: TestOrganization,
  field: string,
  value: object,
): Promise<void> {
  const metadata = { display_phone_number: OWN_NUMBER, phone_number_id: organization.phoneNumberId }
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } }
  const answer = await postBody(
    world,
    JSON.stringify(envelope(organization.businessAccountId, change)),
    organization.appSecret,
  )
  if (answer.status !== 200) throw new Error(`${field}: ${JSON.stringify(answer.body)}`)
}

/** Posts chunks of a history, in this order, and takes them in. */
export async function receiveHistory(world: World, organization: TestOrganization, ...chunks: Chunk[]): Promise<void> {
  for (const chunk of chunks) await postField(world, organization, 'history', chunkOf(chunk))
  await world.drain()
}
