import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect } from 'vitest'
import type { HttpServer } from './http-server.js'
import { createInstance, scan } from './instances.js'
import { type FILES, startFileServer } from './send-chat.js'
import { type Answer, startWorld, type TestOrganization, type World } from './world.js'

/** A world with an organization that has an open simulated phone `phone` and a business number `shop`. */
export interface MessageWorld {
  world: World
  organization: TestOrganization
  other: TestOrganization
  files: HttpServer
  fileUrl(kind: keyof typeof FILES): string
  /** Digits of a number that was not used before. */
  newNumber(): string
  send(verb: string, instance: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** What arrived at the upstream for the recipient, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  arrived(to: string): Promise<any[]>
  close(): Promise<void>
}

/** Starts the world, without status callbacks. */
export async function startMessageWorld(env: Record<string, string> = {}): Promise<MessageWorld> {
  const world = await startWorld(env)
  const files = await startFileServer()
  await world.sim('POST', '/settings', { statuses: false })
  const organization = await world.createOrganization()
  const other = await world.createOrganization()
  await createInstance(world, organization, { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' })
  await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
  await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
  expect((await scan(world, organization, 'phone', '5511988887777')).status).toBe(200)
  await world.settle()
  let people = 0
  return {
    world,
    organization,
    other,
    files,
    fileUrl: (kind) => `${files.url}/${kind}/file`,
    newNumber: () => `1650555${String(++people).padStart(4, '0')}`,
    send: (verb, instance, body, headers = {}) =>
      world.request('POST', `/gateway/message/${verb}/${instance}`, { key: organization.key, body, headers }),
    arrived: async (to) => {
      const { messages } = (await world.sim('GET', `/messages?to=${to}`)).body
      return messages.map(({ id, payload }: { id: string; payload: object }) => ({ ...payload, id }))
    },
    close: async () => {
      await world.close()
      await files.close()
    },
  }
}

/** A form with fields, and with files by the names of their parts. */
export function formOf(fields: Record<string, string>, files: Record<string, [Buffer, string]> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const [name, [bytes, filename]] of Object.entries(files)) form.set(name, new Blob([bytes]), filename)
  return form
}

/** Streams a body without Content-Length. Uses the plain client, since fetch buffers the whole body. */
export async function streamBody(
  on: MessageWorld,
  verb: string,
  contentType: string,
  pieces: Iterable<Buffer>,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
): Promise<{ status: number | undefined; body: any }> {
  const headers = { apikey: on.organization.key, 'content-type': contentType }
  const sending = request(`${on.world.app.url}/gateway/message/${verb}/phone`, { method: 'POST', headers })
  const [[answer]] = await Promise.all([once(sending, 'response'), pipeline(Readable.from(pieces), sending)])
  return { status: answer.statusCode, body: await json(answer) }
}

/** A text, one character repeated, and another text. */
export function* filledBody(head: string, bytes: number, character = '0', tail = ''): Generator<Buffer> {
  const piece = Buffer.alloc(65_536, character)
  yield Buffer.from(head)
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left)
  yield Buffer.from(tail)
}
