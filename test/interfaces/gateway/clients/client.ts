/** The key of a message in responses and webhooks. */
export interface MessageKey {
  id: string
  remoteJid: string
  fromMe: boolean
}

/** A message to send, before the client builds its own body from it. */
export type Draft =
  | { kind: 'text'; text: string; answers?: MessageKey; mentions?: string[] }
  | { kind: 'image'; url: string; caption: string }
  | { kind: 'document'; bytes: Buffer; filename: string }
  | { kind: 'voice'; url: string }
  | { kind: 'sticker'; url: string }
  | { kind: 'video note'; url: string }
  | { kind: 'place'; latitude: number; longitude: number; name: string }
  | { kind: 'card'; name: string; number: string }
  | { kind: 'reaction'; to: MessageKey; emoji: string }
  | { kind: 'poll'; question: string; options: string[] }
  | { kind: 'list'; title: string; text: string; button: string; rows: { id: string; title: string }[] }
  | { kind: 'buttons'; title: string; text: string; buttons: { id: string; title: string }[] }

/** An existing kind of client: its requests, and what it shows of the responses. All methods reject with a Shown. */
export interface Client {
  /** Creates a simulated phone; resolves to its token and the QR code of the response. */
  create(instance: string, hookUrl: string): Promise<{ token: string; qrCode: string }>
  /** The QR code as an image, or the state if the instance is open. */
  connect(instance: string): Promise<string>
  state(instance: string): Promise<string>
  /** Each instance with its state. */
  instances(): Promise<Record<string, string>>
  restart(instance: string): Promise<string>
  logout(instance: string): Promise<string>
  remove(instance: string): Promise<string>
  /** Sets the webhook; resolves to its url and events. */
  setWebhook(instance: string, url: string, events: string[]): Promise<{ url: string; events: string[] }>
  webhook(instance: string): Promise<{ url: string; enabled: boolean; base64: boolean }>
  /** Resolves to the key of the sent message. */
  send(instance: string, number: string, draft: Draft): Promise<MessageKey>
  /** The texts of a chat, the newest first. */
  texts(instance: string, number: string): Promise<string[]>
  /** The JIDs of the chats. */
  chats(instance: string): Promise<string[]>
  /** The names of the contacts with this number. */
  names(instance: string, number: string): Promise<string[]>
  /** The numbers that are on WhatsApp. */
  reachable(instance: string, numbers: string[]): Promise<string[]>
  markRead(instance: string, key: MessageKey): Promise<string>
  showTyping(instance: string, number: string): Promise<string>
  file(instance: string, key: MessageKey): Promise<Buffer>
  edit(instance: string, key: MessageKey, text: string): Promise<string>
  takeBack(instance: string, key: MessageKey): Promise<string>
  /** Asks for the groups, which the gateway does not manage. */
  groups(instance: string): Promise<unknown>
}

/** The URL of the gateway and the key that a client uses. */
export interface Account {
  url: string
  key: string
}

/** What a client shows for a refused request. */
export class Shown extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A response, which must be JSON. */
export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: clients rely on the shapes that they know
  body: any
}

/** Sends an HTTP request. A body that is neither a string nor a form is encoded as JSON. */
export async function ask(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string | object,
): Promise<Reply> {
  const written = body === undefined || typeof body === 'string' || body instanceof FormData
  const response = await fetch(url, { method, headers, body: written ? (body ?? null) : JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

export const toJid = (number: string) => (number.includes('@') ? number : `${number}@s.whatsapp.net`)
export const toDigits = (jid: string) => jid.replace(/@.*/, '')
