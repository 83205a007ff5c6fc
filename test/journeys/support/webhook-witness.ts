import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { expect, vi } from 'vitest'
import { patience } from '../../support/patience.js'
import type { TestOrganization } from '../../support/world.js'
import { type Service, succeed } from './service.js'

/** A request as the endpoint saw it; times are places in one row of all arrivals and answers of the endpoint. */
export interface Arrival {
  /** The header webhook-id. */
  eventId: string
  /** The body as it came; its signature has been verified. */
  text: string
  /** Whose contact's event it is. */
  contactId: string
  /** How many processes had died before the one that sent it. */
  lifetime: number
  arrivedAt: number
  answeredAt: number
  /** What it was answered; null while it has not been, or where the other end had gone before. */
  status: number | null
}

/** What the endpoint answers, and after how many milliseconds; `isFirst`: it has not seen the event before. */
export type Manner = (isFirst: boolean) => { status: number; afterMs: number }

/** An endpoint that records every delivery. */
export interface Witness {
  name: string
  url: string
  webhookId: string
  /** In the order in which they came. */
  arrivals: Arrival[]
  /** The events that were answered with a 2xx. */
  taken: Set<string>
  /** Takes connections from now on; before, they are refused. */
  open(): Promise<void>
  /** The process that delivers is dead: resolves when all has been read that it sent. */
  noteDeath(): Promise<void>
  close(): Promise<void>
}

/** Outside the ports that systems give away by themselves: nobody else gets it while nothing listens on it. */
const FIRST_PORT = 20_000
const PORTS = 10_000
/** No connection is closed just as it is used again: that would count as a failed attempt. */
const KEEP_ALIVE_MS = 600_000

/** Registers an endpoint for all events of the organization; it is yet to be opened. */
export async function registerWitness(
  service: Service,
  { key }: TestOrganization,
  name: string,
  manner: Manner,
): Promise<Witness> {
  const port = await findPort()
  const url = `http://127.0.0.1:${port}/${name}`
  const made = await succeed(service.request('POST', '/set-webhooks', { key, body: { url, events: ['*'] } }))
  const { id: webhookId, secret } = made.body.webhook
  const signed = new Webhook(secret)
  const arrivals: Arrival[] = []
  const taken = new Set<string>()
  const seen = new Set<string>()
  let now = 0
  let deaths = 0

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    readText(request).then(
      (text) => take(text, request, response),
      () => undefined, // it was broken off before it was there
    )
  })

  function take(text: string, request: IncomingMessage, response: ServerResponse): void {
    const { data } = signed.verify(text, request.headers as Record<string, string>) as WebhookBody
    const eventId = String(request.headers['webhook-id'])
    const arrival: Arrival = {
      eventId,
      text,
      contactId: data.contact.id,
      lifetime: deaths,
      arrivedAt: ++now,
      answeredAt: 0,
      status: null,
    }
    arrivals.push(arrival)
    const { status, afterMs } = manner(!seen.has(eventId))
    seen.add(eventId)
    if (afterMs === 0) answer(arrival, status, response)
    else setTimeout(() => answer(arrival, status, response), afterMs)
  }

  function answer(arrival: Arrival, status: number, response: ServerResponse): void {
    if (response.destroyed) return
    arrival.status = status
    arrival.answeredAt = ++now
    if (isSuccess(status)) taken.add(arrival.eventId)
    response.writeHead(status).end()
  }

  return {
    name,
    url,
    webhookId,
    arrivals,
    taken,
    open: () => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve)),
    noteDeath: async () => {
      await vi.waitFor(async () => expect(await countConnections(server)).toBe(0), patience)
      deaths += 1
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299
}

interface WebhookBody {
  data: { contact: { id: string } }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function findPort(): Promise<number> {
  const server = createServer()
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

function countConnections(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
