import { expect } from 'vitest'
import { createContact } from './contacts.js'
import { conversation } from './conversations.js'
import { type HttpServer, startHttpServer } from './http-server.js'
import { aac, docx, jpeg, mp3, mp4, ogg, pdf, png, webp } from './media.js'
import { type EventRow, eventsOf } from './rows/events.js'
import { type Answer, startWorld, type TestOrganization, type World } from './world.js'

/** The files of the test's web server, by the first part of the path. */
export const FILES = { jpeg, png, webp, mp4, mp3, aac, ogg, pdf, docx }

/** A world with an organization that sends, and a web server with files. */
export interface SendWorld {
  world: World
  organization: TestOrganization
  files: HttpServer
  /** The URL of a file; the rest of the path after its kind is arbitrary. */
  fileUrl(kind: keyof typeof FILES, rest?: string): string
  /** A new contact of the organization; its digits. */
  newContact(fields?: object, owner?: TestOrganization): Promise<string>
  send(body: unknown, idempotencyKey?: string): Promise<Answer>
  /** Sends a message, which must succeed; resolves to its upstream id. */
  sent(body: unknown): Promise<string>
  /** What arrived at the upstream for the recipient, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  arrived(digits: string): Promise<any[]>
  /** The conversation, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  shown(digits: string): Promise<any[]>
  /** The contact's events in order. */
  eventsAbout(digits: string): Promise<EventRow[]>
  close(): Promise<void>
}

/** A web server with each of these files below its name. */
export function startFileServer(): Promise<HttpServer> {
  return startHttpServer(({ path }, response) => {
    const kind = path.split('/')[1] ?? ''
    if (!Object.hasOwn(FILES, kind)) return void response.writeHead(404).end()
    response.writeHead(200).end(FILES[kind as keyof typeof FILES]())
  })
}

/** Starts a world for sending, initially without statuses. `env`: additional PARLEY_* settings. */
export async function startSendWorld(env: Record<string, string> = {}): Promise<SendWorld> {
  const world = await startWorld(env)
  const files = await startFileServer()
  await world.sim('POST', '/settings', { statuses: false })
  const organization = await world.createOrganization()
  let people = 0

  const send: SendWorld['send'] = (body, idempotencyKey) => {
    const headers: Record<string, string> = {}
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    return world.request('POST', '/send-chat', { key: organization.key, body, headers })
  }
  return {
    world,
    organization,
    files,
    fileUrl: (kind, rest = 'file') => `${files.url}/${kind}/${rest}`,
    newContact: async (fields = {}, owner = organization) => {
      const digits = `1650555${String(++people).padStart(4, '0')}`
      await createContact(world, owner, `+${digits}`, fields)
      return digits
    },
    send,
    sent: async (body) => {
      const answer = await send(body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.body.data.message_id
    },
    arrived: async (digits) => (await world.sim('GET', `/messages?to=${digits}`)).body.messages,
    shown: async (digits) => (await conversation(world, organization, digits)).body.messages,
    eventsAbout: async (digits) => {
      const events = await eventsOf(world, organization)
      return events.filter(({ data }) => data.contact?.chat_id === digits)
    },
    close: async () => {
      await world.close()
      await files.close()
    },
  }
}
