/** A message by its key, as answers and webhooks name it. */
export interface MessageKey {
  id: string
  remoteJid: string
  fromMe: boolean
}

/** What a person has a client send, before the client puts it in its own words. */
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

/** A kind of existing client: how it asks, and what it shows of the answers. Everything rejects with a Shown. */
export interface Client {
  /** Makes a pretend phone; resolves to its token and the QR code of the first answer. */
  create(instance: string, hookUrl: string): Promise<{ token: string; qrCode: string }>
  /** The QR code as an image, or the state of an instance that is open. */
  connect(instance: string): Promise<string>
  state(instance: string): Promise<string>
  /** Each instance with its state. */
  instances(): Promise<Record<string, string>>
  restart(instance: string): Promise<string>
  logout(instance: string): Promise<string>
  remove(instance: string): Promise<string>
  /** Resolves to the url and the events that are in force. */
  setWebhook(instance: string, url: string, events: string[]): Promise<{ url: string; events: string[] }>
  webhook(instance: string): Promise<{ url: string; enabled: boolean; base64: boolean }>
  /** Resolves to the key of what was sent. */
  send(instance: string, number: string, draft: Draft): Promise<MessageKey>
  /** The texts of a chat, the newest first. */
  texts(instance: string, number: string): Promise<string[]>
  /** The JIDs of the chats. */
  chats(instance: string): Promise<string[]>
  /** The names of whoever has the number. */
  names(instance: string, number: string): Promise<string[]>
  /** Those of the numbers that are on the network. */
  reachable(instance: string, numbers: string[]): Promise<string[]>
  markRead(instance: string, key: MessageKey): Promise<string>
  showTyping(instance: string, number: string): Promise<string>
  file(instance: string, key: MessageKey): Promise<Buffer>
  edit(instance: string, key: MessageKey, text: string): Promise<string>
  takeBack(instance: string, key: MessageKey): Promise<string>
  /** Asks for the groups, which the gateway does not manage. */
  groups(instance: string): Promise<unknown>
}

/** Where a client finds the gateway, and the key that it was given. */
export interface Account {
  url: string
  key: string
}

/** What a client shows where something is refused. */
export class Shown extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** An answer: every one has to be JSON. */
export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: clients take the shapes that they know for granted
  body: any
}

/** Asks over HTTP; a body that is no text and no form is written as JSON. */
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
