import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { openBlobStore } from './blobs/open.js'
import { openSandboxes } from './channels/sandbox.js'
import type { Config } from './config/settings.js'
import type { BaseContext, DatabaseContext, LiveContext, RequestContext, WorkContext } from './context.js'
import { requestReconciling } from './core/broadcasts/reconcile.js'
import { BROADCAST_SENDS } from './core/broadcasts/send-recipient.js'
import { CallbackQueue } from './core/callbacks/queue.js'
import { createCallbackReceiver } from './core/callbacks/receive/receiver.js'
import { createContactLookup } from './core/contacts/contacts.js'
import { createAuthenticator } from './core/identity/api-keys.js'
import type { GatewayKey } from './core/identity/gateway-key.js'
import { createPasswords } from './core/identity/passwords.js'
import { createSignInTokens } from './core/identity/sign-in-tokens.js'
import { createSessionCommands } from './core/instances/commands/session-commands.js'
import { createLinkedLibrary, isLibraryInstalled } from './core/instances/library/linked-library.js'
import { createInstanceLookup } from './core/instances/manage/find.js'
import { registerAllWithSimulator } from './core/instances/manage/simulator.js'
import { Sessions } from './core/instances/sessions/sessions.js'
import { CONVERSIONS } from './core/media/convert.js'
import { createMediaLinks } from './core/media/links.js'
import { createMessageLookup } from './core/messages/find.js'
import { createMessageWriter } from './core/messages/send/message-writer.js'
import { createSendRateLimiter } from './core/messages/send/rate-limiter.js'
import { linkAllWithSimulator } from './core/organizations/connections.js'
import { adoptRestoredDatabase } from './core/processes/histories.js'
import { createNotifications } from './core/processes/notifications.js'
import { type ProcessRegistration, readDatabaseTime, registerThisProcess } from './core/processes/process-registry.js'
import { ARRIVING_FILES } from './core/requests/arriving-files.js'
import { createFileLimiter, EXPORTED_FILES, IMPORTED_FILES, SENT_FILES } from './core/requests/file-limits.js'
import { createRateLimiter } from './core/requests/rate-limit.js'
import { scheduleTemplateSyncs } from './core/templates/sync.js'
import { createDispatcher, type Dispatcher } from './core/webhooks/delivery/dispatcher.js'
import { type Databases, figuresOf } from './database/databases.js'
import { findLastBackup } from './database/embedded.js'
import { readSchema } from './database/migrations/state.js'
import type { Database } from './database/pool.js'
import { createEndpointClient } from './endpoints/client.js'
import { type CountJobs, countRefusedCallbacks, type Disks, measureEndpoints, measureUpstream } from './http/metrics.js'
import { createSecondAddress, type SecondAddress } from './http/second-address.js'
import { endConnections } from './http/server.js'
import { mount, mountProbesOnly } from './interfaces/mount.js'
import { type JobRunner, startJobRunner } from './jobs/runner.js'
import { createTasks } from './jobs/tasks.js'
import { sleep } from './lib/async/backoff.js'
import { createByteBudget } from './lib/async/byte-budget.js'
import { FairPlaces } from './lib/async/fair-places.js'
import { createLruCache } from './lib/async/lru-cache.js'
import { type OutageWatch, watchOutage } from './lib/async/outages.js'
import { createSteadyClock } from './lib/async/steady-clock.js'
import { createThrottledRuns } from './lib/async/throttled-runs.js'
import { createSecretBox } from './lib/crypto/secret-box.js'
import { findDiskRoom } from './lib/files/disk.js'
import { createSpool } from './lib/files/spool.js'
import { createAddressGuard } from './lib/http/address-guard.js'
import { isOnThisMachine } from './lib/http/loopback.js'
import { createFetcher } from './lib/http/safe-fetch.js'
import { MEBIBYTE } from './lib/text/units.js'
import type { Notifications } from './model/notification.js'
import type { Secrets } from './secrets.js'
import { createStorefrontClient } from './storefront/client.js'
import { openTracer } from './tracing.js'
import { createTranscriber } from './transcription/client.js'
import { createUpstreamClient } from './upstream/client.js'
import {
  isSimulator,
  registerWithSimulator,
  type SimulatedNumber,
  type SimulatorControl,
} from './upstream/simulator-link.js'

/** The parts that the service is built from. The caller opens the databases and, if configured, the simulator. */
export interface AppOptions {
  config: Config
  secrets: Secrets
  log: Logger
  databases: Databases
  upstreamUrl: string
  /** The simulator in use, if any; `passesOn`: its control is reachable through this service. */
  simulator: (SimulatorControl & { passesOn: boolean }) | null
  /** Tests set the time. By default, it is the database's. */
  clock?: () => Date
  /** Called every second in which the database answered. */
  onDatabaseAnswer?: () => void
  /** False in tests that run jobs themselves. */
  runWorker?: boolean
}

/** A service that takes traffic. */
export interface App {
  ctx: RequestContext
  work: WorkContext
  server: FastifyInstance
  /** Processes callbacks if this process runs a worker; tests drain it. */
  callbacks: CallbackQueue
  /** Delivers to webhooks if this process runs a worker; tests drain it. */
  webhooks: Dispatcher
  /** The linked devices that this process runs. */
  sessions: Sessions
  /** Its address, such as http://127.0.0.1:8080. */
  url: string
  /** The gateway's own address; null if it has no port of its own. */
  gatewayUrl: string | null
  /**
   * Makes /readyz fail and continues to serve for PARLEY_DRAIN_SECONDS, so that proxies choose other processes. Every
   * answer is the last one on its connection.
   */
  drain(): Promise<void>
  /** Refuses new requests, finishes running ones and returns jobs to the queue; the databases stay open. */
  close(): Promise<void>
}

const REAP_MS = 1_000
/** Longer than any file is in progress; older ones of other machines were left by a dead process. */
const STALE_MS = 24 * 60 * 60_000
/** How often templates are fetched when a request names an unknown one. */
const TEMPLATES_MS = 60_000
const MAX_ONE_OFF_CAMPAIGNS = 10_000

/** Builds and starts the service: context, worker, HTTP. Throws what prevents it (such as a taken port). */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, databases } = options
  const databaseClock = createSteadyClock(await readDatabaseTime(databases.work))
  const clock = options.clock ?? databaseClock.now
  await adoptRestoredDatabase({ database: databases.work, log, clock })
  const registration = await registerThisProcess(databases.live, log)
  const notifications = createNotifications(databases.live, registration, log)
  let ownUrl: string | null = null
  const ownAddress = () => {
    if (ownUrl === null) throw new Error('the service does not listen yet')
    return ownUrl
  }
  const runsWorker = config.roles.includes('worker') && options.runWorker !== false
  const registry = new Registry()
  const { processId } = registration
  const shared = await createContext(options, { clock, registry, ownAddress, processId, notifications })
  const base: BaseContext = { ...shared, ...contextOf(databases.work, databases.work) }
  const sessions = new Sessions(base, {
    isInstalled: isLibraryInstalled(config.linkedDeviceLibrary),
    socketUrl: config.linkedDeviceUrl,
  })
  const work: WorkContext = { ...base, devices: createSessionCommands(base, sessions), purpose: 'work' }
  const ctx: RequestContext = { ...work, ...contextOf(databases.requests, databases.replica), purpose: 'requests' }
  const stopSweeping = await startSweeping(work, registration, (time, elapsedMs) => {
    databaseClock.follow(time, elapsedMs)
    options.onDatabaseAnswer?.()
  })
  const callbacks = new CallbackQueue(work)
  const stopCommits = databases.work.onCommit((committed) => {
    if (committed.topic !== 'callbacks') return
    if (runsWorker) callbacks.wake(committed.organizationIds)
    else notifications.send(committed)
  })
  const webhooks = createDispatcher(work)
  const gatewayAddress = createSecondAddress()
  let server: FastifyInstance | null = null
  let jobs: JobRunner | null = null
  let isDraining = false
  const isWorkerRunning = () => !runsWorker || jobs?.isRunning() === true
  const countRunningJobs = async () => jobs?.running() ?? {}

  async function drain(): Promise<void> {
    if (server === null || config.drainSeconds === 0) return
    isDraining = true
    endConnections(server)
    await sleep(config.drainSeconds * 1_000)
  }

  async function close(): Promise<void> {
    stopSweeping()
    await server?.close()
    await Promise.all([callbacks.stop(), jobs?.stop(), webhooks.stop(), sessions.stop()])
    stopCommits()
    await ctx.upstream.close()
    await ctx.storefront.close()
    await ctx.endpoints.close()
    await ctx.transcriber?.close()
    await ctx.fetcher.close()
    await ctx.blobs.close()
    await ctx.tracer?.close()
    await notifications.close()
    await registration.leave()
  }

  try {
    const servesApi = config.roles.includes('api')
    const parts = {
      registry,
      isWorkerRunning,
      isDraining: () => isDraining,
      countRunningJobs,
      webhooks,
      gatewayAddress,
    }
    server = createServer(options, ctx, work, parts)
    const url = await listen(server, config)
    ownUrl = url
    // Jobs may need the own address.
    if (runsWorker) {
      callbacks.start()
      jobs = startJobRunner(work, createTasks(work))
    }
    const gatewayUrl = servesApi ? await listenForGateway(gatewayAddress, config) : null
    if (gatewayUrl !== null) log.info(`the gateway answers on ${gatewayUrl}`)
    await linkAllWithSimulator(work)
    if (servesApi) await registerAllWithSimulator(work)
    if (runsWorker) {
      await scheduleTemplateSyncs(work)
      await requestReconciling(work)
      webhooks.start()
    }
    if (config.roles.includes('gateway')) sessions.start()
    return { ctx, work, server, callbacks, webhooks, sessions, url, gatewayUrl, drain, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The parts of the context that use these connections. */
function contextOf(database: Database, replica: Database): DatabaseContext {
  return {
    database,
    replica,
    lookUp: {
      contact: createContactLookup(database),
      instance: createInstanceLookup(database),
      message: createMessageLookup(database),
    },
    messageWriter: createMessageWriter(database),
    reserveSendSlot: createSendRateLimiter(database),
  }
}

function liveContextOf({ clock, log, mediaLinks, notifications }: WorkContext, database: Database): LiveContext {
  return { database, clock, log, mediaLinks, notifications, purpose: 'live' }
}

/** The parts of a process that its context is made of. */
interface EarlyParts {
  clock: () => Date
  /** Where calls are measured. */
  registry: Registry
  /** Where this process listens; throws before it does. */
  ownAddress: () => string
  processId: number
  notifications: Notifications
}

/** The other parts. */
async function createContext(
  { config, secrets, log, upstreamUrl, simulator }: AppOptions,
  { clock, registry, ownAddress, processId, notifications }: EarlyParts,
): Promise<Omit<BaseContext, keyof DatabaseContext>> {
  const guard = createAddressGuard(config.allowedPrivateHosts)
  const publicUrl = () => config.publicUrl ?? ownAddress()
  // A proxy on this machine reaches the processes that run; this one may have ended by then.
  const proxy = config.publicUrl !== undefined && isOnThisMachine(config.publicUrl) ? config.publicUrl : null
  const callbackUrl = () => `${proxy ?? ownAddress()}/hooks/upstream`
  const isSimulated = askOnce(simulator)
  return {
    clock,
    log,
    tracer: config.tracing && (await openTracer(config.tracing, log)),
    processId,
    cell: config.cell ?? null,
    publicUrl,
    channelNames: config.channelNames,
    upstreamTimeoutMs: config.upstreamTimeoutMs,
    limits: {
      sentFiles: createFileLimiter(SENT_FILES),
      importedFiles: createFileLimiter(IMPORTED_FILES),
      exportedFiles: createFileLimiter(EXPORTED_FILES),
      arrivingFiles: createByteBudget(ARRIVING_FILES),
      conversions: new FairPlaces(CONVERSIONS),
      broadcastSends: new FairPlaces(BROADCAST_SENDS),
    },
    attemptsInProgress: new Set(),
    secrets: createSecretBox(secrets.masterKeys),
    passwords: createPasswords(),
    signInTokens: createSignInTokens(secrets.masterKeys),
    blobs: await openBlobStore(config.media, config.dataDir, (problem) => log.warn(problem)),
    mediaLinks: createMediaLinks(secrets.masterKeys, publicUrl),
    spool: createSpool(join(config.dataDir, 'spool')),
    upstream: createUpstreamClient(upstreamUrl, measureUpstream(registry), watchUpstream(log)),
    storefront: createStorefrontClient(guard),
    endpoints: createEndpointClient({ guard, onAnswer: measureEndpoints(registry) }),
    fetcher: createFetcher({ guard, trustedOrigins: [new URL(upstreamUrl).origin] }),
    transcriber: config.transcribe && createTranscriber(config.transcribe),
    linkedLibrary: createLinkedLibrary(config.linkedDeviceLibrary, log),
    // Only a process that receives callbacks registers itself with the simulator.
    linkWithSimulator:
      simulator && config.roles.includes('api')
        ? (number) => link({ isSimulated, log }, simulator, number, callbackUrl())
        : null,
    isSimulated,
    sandboxes: simulator && openSandboxes(simulator, callbackUrl),
    refreshTemplates: createThrottledRuns(TEMPLATES_MS, clock),
    oneOffCampaigns: createLruCache(MAX_ONE_OFF_CAMPAIGNS),
    notifications,
  }
}

/** The calls of all organizations count, so a few that fail are no outage of the upstream. */
const FAILED_CALLS = 5

function watchUpstream(log: Logger): OutageWatch {
  return watchOutage(
    {
      fails: (facts) => log.warn(facts, 'the upstream does not answer; sends fail or wait'),
      worksAgain: (facts) => log.warn(facts, 'the upstream answers again'),
    },
    FAILED_CALLS,
  )
}

/**
 * Regularly removes what dead processes left behind. `onAnswer` gets the time that the database tells each time, and how
 * long its answer took. The returned function stops it.
 */
async function startSweeping(
  { spool, log }: WorkContext,
  registration: ProcessRegistration,
  onAnswer: (time: Date, elapsedMs: number) => void,
): Promise<() => void> {
  async function reap(): Promise<void> {
    const askedAt = performance.now()
    const time = await registration.removeDead()
    onAnswer(time, performance.now() - askedAt)
  }
  await spool.sweep(STALE_MS)
  await reap()
  const reaper = setInterval(() => {
    reap().catch((error) => log.warn({ err: error }, 'dead processes could not be looked for'))
  }, REAP_MS)
  const sweeper = setInterval(() => {
    spool.sweep(STALE_MS).catch((error) => log.warn({ err: error }, 'files left behind could not be removed'))
  }, STALE_MS)
  return () => {
    clearInterval(reaper)
    clearInterval(sweeper)
  }
}

/** The parts of a process that its server shows or checks. */
interface ServedParts {
  registry: Registry
  isWorkerRunning: () => boolean
  isDraining: () => boolean
  countRunningJobs: CountJobs
  webhooks: Dispatcher
  gatewayAddress: SecondAddress
}

function createServer(
  { config, secrets, databases, simulator }: AppOptions,
  ctx: RequestContext,
  work: WorkContext,
  { registry, isWorkerRunning, isDraining, countRunningJobs, webhooks, gatewayAddress }: ServedParts,
): FastifyInstance {
  const disks = disksOf(config)
  const probes = {
    ctx,
    live: liveContextOf(work, databases.live),
    connections: () => figuresOf(databases),
    checks: { ...readinessChecks(databases.live, isWorkerRunning, isDraining), disk: () => findFullDisk(disks) },
    disks,
    findLastBackup: async () => (config.databaseUrl === undefined ? findLastBackup(config.dataDir) : null),
    registry,
    metricsToken: config.metricsToken,
    webhookFigures: webhooks.figures,
    countRunningJobs,
  }
  const server = config.roles.includes('api')
    ? mount({
        ...probes,
        adminToken: secrets.adminToken,
        simulator: simulator?.passesOn ? simulator : null,
        authenticate: createAuthenticator(ctx),
        gatewayKey: gatewayKeyOf(config),
        takeToken: config.rateLimit > 0 ? createRateLimiter(ctx, config.rateLimit) : null,
        callbacks: createCallbackReceiver(ctx, countRefusedCallbacks(registry)),
        isAtGateway: (request) =>
          gatewayAddress.has(request) ||
          (config.gatewayHost !== undefined && hostNameOf(request) === config.gatewayHost),
      })
    : mountProbesOnly(probes)
  gatewayAddress.attach(server)
  return server
}

function gatewayKeyOf({ gatewayKey: key, gatewayOrganization: organization }: Config): GatewayKey | null {
  return key === undefined || organization === undefined ? null : { key, organization }
}

/** The host name of a request, in lower case and without the port; headers of proxies are ignored. */
function hostNameOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d*$/, '')
}

/** The built-in simulator must know every number; another server on this machine need not be one. */
async function link(
  { isSimulated, log }: Pick<BaseContext, 'isSimulated' | 'log'>,
  simulator: SimulatorControl & { passesOn: boolean },
  number: SimulatedNumber,
  callbackUrl: string,
): Promise<void> {
  try {
    if (!(await isSimulated())) throw new Error('its control does not answer as that of a simulator')
    await registerWithSimulator(simulator, number, callbackUrl)
  } catch (error) {
    if (simulator.passesOn) throw error
    log.info(
      { reason: (error as Error).message },
      'the upstream on this machine does not register numbers: it is not a simulator, or it is not running',
    )
  }
}

/** Asks the server until it has said that it is a simulator. */
function askOnce(simulator: AppOptions['simulator']): () => Promise<boolean> {
  let isKnown = simulator?.passesOn === true
  return async () => {
    if (!isKnown && simulator !== null) isKnown = await isSimulator(simulator)
    return isKnown
  }
}

async function listen(server: FastifyInstance, { host, port }: Config): Promise<string> {
  await server.listen({ host, port })
  const address = server.server.address()
  return urlOf(host, typeof address === 'object' && address !== null ? address.port : port)
}

async function listenForGateway(address: SecondAddress, { host, gatewayPort }: Config): Promise<string | null> {
  return gatewayPort === undefined ? null : urlOf(host, await address.listen({ host, port: gatewayPort }))
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The folders in which the service writes, by what they hold; a bucket and another server's disk are not seen from here. */
function disksOf({ dataDir, databaseUrl }: Config): Disks {
  return { data: dataDir, ...(databaseUrl === undefined && { database: join(dataDir, 'postgres') }) }
}

/** With less, not even a small file or the database's log has room. */
const FULL_BYTES = 32 * MEBIBYTE

/** What to do if one of the disks is full; null if none is. */
async function findFullDisk(disks: Disks): Promise<string | null> {
  for (const [name, folder] of Object.entries(disks)) {
    const room = await findDiskRoom(folder)
    if (room !== null && room.free < FULL_BYTES) return `the disk of the folder "${name}" is full: make room`
  }
  return null
}

function readinessChecks(database: Database, isWorkerRunning: () => boolean, isDraining: () => boolean) {
  return {
    database: async () => {
      await database.pool.query('SELECT 1')
      return null
    },
    migrations: async () => {
      const { state } = await readSchema(database.pool)
      if (state === 'empty') return 'the database has no tables yet: run parley migrate'
      if (state === 'ahead') return 'a newer version has removed what this one needs: start the newer one'
      if (state === 'unreleased') return 'a version before 1.0.0 made the database: use an empty one'
      return state === 'current' ? null : 'the schema is behind this version: run parley migrate'
    },
    worker: async () => (isWorkerRunning() ? null : 'the worker does not run'),
    stopping: async () => (isDraining() ? 'this process is being stopped' : null),
  }
}
