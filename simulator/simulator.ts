import { isIPv4 } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { destinationsOf } from './accounts/destinations.js'
import { World } from './accounts/world.js'
import { upstreamApi } from './api.js'
import { BlockList } from './blocking/block-list.js'
import { CallbackSender } from './callbacks/callback-sender.js'
import type { Context } from './context.js'
import { simulatorControl } from './control/control.js'
import { Idle } from './idle.js'
import { MagicMedia, MagicRecipients } from './magic.js'
import { MediaFolder } from './media/files.js'
import { MediaLinks } from './media/links.js'
import { MediaStore } from './media/store.js'
import type { Numbers } from './numbers/business-numbers.js'
import { SeededRandom } from './random.js'
import { Limits } from './sending/limits.js'
import { MessageRecord } from './sending/message-record.js'
import { StatusReports } from './sending/status-reports.js'
import { defaultSettings, type Settings } from './settings.js'
import { storefrontApi } from './storefront/api.js'
import { ShopOrders } from './storefront/orders.js'
import { Examples } from './templates/examples.js'
import { Templates } from './templates/store.js'

export interface SimulatorOptions {
  /** Listen address, `127.0.0.1` by default. An address that is not loopback requires `public`. */
  host?: string
  /** Listen port; 0, the default, picks a free one. */
  port?: number
  /** If set, the control API under `/_sim` requires it as bearer token. */
  controlToken?: string | undefined
  /** Enforce 80 messages a second, the pair rate and the 24-hour window. Off by default. */
  limits?: boolean
  /** Accept only what an app, an account and a token were made for (`PUT /_sim/accounts`). Off by default. */
  strict?: boolean
  /** Allow an address that other machines can reach. */
  public?: boolean
  /** Maximum number of accepted messages kept, 200,000 by default. */
  recordLimit?: number
  /** Receives a line for every callback that was not accepted; nothing is logged by default. */
  log?: (line: string) => void
}

export interface Simulator {
  /** The URL it listens on, without a trailing slash. */
  url: string
  /** The upstream's base URL on it. */
  upstreamUrl: string
  /** The storefront's URL on it; its admin API is below. */
  storefrontUrl: string
  /** Stops at once: open connections are closed and pending callbacks dropped. */
  close(): Promise<void>
}

const bodyLimit = 4 * 1_024 * 1_024
const defaultRecordLimit = 200_000
/** An id may contain the name of an instance, with every character escaped. */
const maxParamLength = 4_096

/**
 * Starts a simulator: the upstream's API under `/v23.0`, a storefront under `/shop`, and the control API of both under
 * `/_sim`. Rejects if the host is not loopback and `public` is not set, or if the address cannot be bound.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1'
  if (!options.public && !isLoopback(host)) {
    throw new Error(
      `The simulator listens on loopback only, and ${host} is not: use 127.0.0.1, or allow a public address`,
    )
  }
  const context = createContext(options)
  const app = createServer(context, options)
  await app.listen({ host, port: options.port ?? 0 })
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${portOf(app)}`
  return { url, upstreamUrl: `${url}/v23.0`, storefrontUrl: `${url}/shop`, close: () => close(app, context) }
}

function createContext({ limits, strict = false, recordLimit, log }: SimulatorOptions): Context {
  const numbers: Numbers = new Map()
  const world = new World()
  const initialSettings = { ...defaultSettings, strict }
  const settings: Settings = { ...initialSettings }
  const random = new SeededRandom(settings.seed)
  const idle = new Idle(() => sender.pending + reports.pending)
  const shared = { numbers, settings, random, onProgress: () => idle.progressed() }
  const sender = new CallbackSender({
    ...shared,
    destinationsOf: (phoneNumberId, content) => destinationsOf({ numbers, world }, phoneNumberId, content),
    log: log ?? (() => {}),
  })
  const reports = new StatusReports({ ...shared, sender })
  return {
    ...{ numbers, world, settings, initialSettings, random, sender, reports, idle },
    phones: new Map(),
    record: new MessageRecord(recordLimit ?? defaultRecordLimit),
    failures: new Map(),
    userIds: new Map(),
    groupMembers: new Map(),
    magic: new MagicRecipients(),
    magicMedia: new MagicMedia(),
    media: new MediaStore(),
    mediaFolder: new MediaFolder(),
    mediaLinks: new MediaLinks(),
    blocks: new BlockList(),
    limits: limits ? new Limits() : null,
    templates: new Templates(),
    examples: new Examples(),
    orders: new ShopOrders(),
  }
}

function createServer(context: Context, { controlToken }: SimulatorOptions): FastifyInstance {
  const app = Fastify({ bodyLimit, forceCloseConnections: true, routerOptions: { maxParamLength } })
  // Bodies stay text, because each API parses them itself and has its own error for invalid ones.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.register(async (scope) => upstreamApi(scope, context))
  app.register(async (scope) => storefrontApi(scope, context), { prefix: '/shop' })
  app.register(async (scope) => simulatorControl(scope, context, controlToken), { prefix: '/_sim' })
  return app
}

async function close(app: FastifyInstance, context: Context): Promise<void> {
  context.reports.reset()
  await context.sender.close()
  await app.close()
  await context.mediaFolder.close()
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port')
  return address.port
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
