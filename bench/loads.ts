import { hmacSha256Hex } from '../src/lib/crypto/signature.js'
import { anyNumber, numberOf } from './data.js'
import type { World } from './world.js'

/** Returns the next request of a load, as the bytes of HTTP/1.1. */
export type NextRequest = () => string

/** Messages per page, the API's default. */
const PAGE_SIZE = 10

/** Looks up a random contact. */
export function contactLoad({ organization }: World): NextRequest {
  return () => get(`/contact?phone_number=%2B${anyNumber()}`, organization.key)
}

/** Reads one page of the longest conversation. */
export function conversationLoad({ organization }: World, page: number): NextRequest {
  const request = get(`/conversations?chatNumber=%2B${numberOf(0)}&limit=${PAGE_SIZE}&page=${page}`, organization.key)
  return () => request
}

/** Sends a text to a random contact. */
export function textLoad(world: World): NextRequest {
  return sendLoad(world, { message_type: 'text', text: 'Your order has left our house today.' })
}

/** Sends three buttons to a random contact. */
export function interactiveLoad(world: World): NextRequest {
  const buttons = ['Yes', 'No', 'Later'].map((title) => ({ id: title.toLowerCase(), title }))
  const interactive = { type: 'button', body: 'Shall we bring it today?', footer: 'Bench', buttons }
  return sendLoad(world, { message_type: 'interactive', interactive })
}

/** Sends a picture from that URL to a random contact. */
export function imageLoad(world: World, media_url: string): NextRequest {
  return sendLoad(world, { message_type: 'image', media_url, caption: 'It has left our house today.' })
}

function sendLoad({ organization }: World, content: object): NextRequest {
  return () => {
    const message = { phone_number: `+${anyNumber()}`, ...content }
    return post('/send-chat', JSON.stringify(message), `authorization: Bearer ${organization.key}\r\n`)
  }
}

let callbacks = 0

/** Posts a signed callback with one message of a random contact, with a new id each time. */
export function callbackLoad({ organization }: World): NextRequest {
  const run = process.hrtime.bigint().toString(36)
  return () => {
    callbacks += 1
    const message = { from: anyNumber(), id: `wamid.${run}.${callbacks}`, text: 'Does it come in another color?' }
    const body = JSON.stringify(callbackOf(organization.phoneNumberId, [message]))
    return postSigned(organization.appSecret, body)
  }
}

/** Posts a signed callback with the status `delivered` of the next of these messages. */
export function statusLoad({ organization }: World, upstreamIds: Iterator<string>): NextRequest {
  return () => {
    const { value: id, done } = upstreamIds.next()
    if (done) throw new Error('all statuses are posted: measure for a shorter time')
    const timestamp = String(Math.floor(Date.now() / 1000))
    const body = JSON.stringify(
      envelopeOf(organization.phoneNumberId, { statuses: [{ id, status: 'delivered', timestamp }] }),
    )
    return postSigned(organization.appSecret, body)
  }
}

function postSigned(appSecret: string, body: string): string {
  return post('/hooks/upstream', body, `x-hub-signature-256: ${signatureOf(appSecret, body)}\r\n`)
}

/** The value of X-Hub-Signature-256. */
export function signatureOf(appSecret: string, body: string): string {
  return `sha256=${hmacSha256Hex(appSecret, body)}`
}

/** An inbound text in a callback. */
export interface InboundText {
  /** Digits. */
  from: string
  /** The upstream's id of the message. */
  id: string
  text: string
}

/** The body of a callback with these messages to a business number. */
export function callbackOf(phoneNumberId: string, messages: readonly InboundText[]): object {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return envelopeOf(phoneNumberId, {
    contacts: messages.map(({ from }) => ({ profile: { name: 'Ana Silva' }, wa_id: from })),
    messages: messages.map(({ from, id, text }) => ({ from, id, timestamp, type: 'text', text: { body: text } })),
  })
}

/** The body of a callback with one change. */
export function envelopeOf(phoneNumberId: string, changed: object, field = 'messages'): object {
  const metadata = { display_phone_number: '15550783881', phone_number_id: phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, ...changed }
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: '419561257915477', changes: [{ value, field }] }],
  }
}

/** A GET with this key. */
export function get(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n\r\n`
}

/**
 * A POST with these additional headers, each ended by CRLF. The bodies must be ASCII, because the length of the string
 * is used as the length in bytes.
 */
export function post(path: string, body: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: bench\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
