import { hmacSha256Hex } from '../../src/lib/crypto/signature.js'
import type { Answer, TestOrganization, World } from './world.js'

/** A message in a callback. */
export type WireMessage = Record<string, unknown>

let made = 0

/** A new upstream id of a message. */
export function wamid(): string {
  return `wamid.TEST${process.pid}x${++made}`
}

/** Unix seconds, `offset` seconds after a fixed moment, as the upstream writes them. */
export function seconds(offset = 0): string {
  return String(1_750_000_000 + offset)
}

/** A text message; `fields` replace or add fields. */
export function textMessage(from: string, text: string, fields: WireMessage = {}): WireMessage {
  return { from, id: wamid(), timestamp: seconds(), type: 'text', text: { body: text }, ...fields }
}

/** A change of the field messages for an organization's number. */
export function changeFor(organization: TestOrganization, value: object): object {
  const { phoneNumberId } = organization
  const metadata = { display_phone_number: '15550001111', phone_number_id: phoneNumberId }
  return { field: 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } }
}

/** The body of a callback with the given changes. */
export function envelope(businessAccountId: string, ...changes: object[]): object {
  return { object: 'whatsapp_business_account', entry: [{ id: businessAccountId, changes }] }
}

/** Posts a body unchanged, signed with the secret; null: not signed. */
export function postBody(world: World, body: string, secret: string | null): Promise<Answer> {
  const headers: Record<string, string> = {}
  if (secret !== null) headers['x-hub-signature-256'] = `sha256=${hmacSha256Hex(secret, body)}`
  return world.request('POST', '/hooks/upstream', { body, headers })
}

/** Posts a value of the field messages for the organization, and processes it. Throws if it is refused. */
export async function receive(world: World, organization: TestOrganization, value: object): Promise<void> {
  await post(world, organization, value)
  await world.drain()
}

/** Posts a value of the field messages for the organization. Throws if it is refused. */
export async function post(world: World, organization: TestOrganization, value: object): Promise<void> {
  const body = JSON.stringify(envelope(organization.businessAccountId, changeFor(organization, value)))
  const answer = await postBody(world, body, organization.appSecret)
  if (answer.status !== 200) throw new Error(`callback: ${JSON.stringify(answer.body)}`)
}

/** Receives messages, each in a callback of its own, in this order. */
export async function receiveMessages(
  world: World,
  organization: TestOrganization,
  ...messages: WireMessage[]
): Promise<void> {
  for (const message of messages) await post(world, organization, { messages: [message] })
  await world.drain()
}
