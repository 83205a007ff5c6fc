import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { openBlobStore } from './blobs/open.js'
import { openSandboxes } from './channels/sandbox.js'
import type { Config } from './config.js'
import type { Context } from './context.js'
import { scheduleReconciling } from './core/broadcasts/reconcile.js'
import { createContactLookup } from './core/contacts/contacts.js'
import { createAuthenticator } from './core/identity/api-keys.js'
import { createSignInTokens } from './core/identity/sign-in-tokens.js'
import { createInstanceLookup } from './core/instances/manage/find.js'
import { registerAllWithSimulator } from './core/instances/manage/simulator.js'
import { createLinkedLibrary, isLibraryInstalled } from './core/instances/sessions/linked-library.js'
import { createSessionCommands } from './core/instances/sessions/session-commands.js'
import { createSessions, type Sessions } from './core/instances/sessions/sessions.js'
import { createMediaLinks } from './core/media/links.js'
import { createMessageLookup } from './core/messages/find.js'
import { createCallbackReceiver } from './core/messages/receive/callback-receiver.js'
import { createMessageWriter } from './core/messages/send/message-writer.js'
import { createSendRateLimiter } from './core/messages/send/rate-limiter.js'
import { linkAllWithSimulator } from './core/organizations/connections.js'
import { createFileLimiter, EXPORTED_FILES, IMPORTED_FILES, SENT_FILES } from './core/runtime/file-limits.js'
import { adoptRestoredDatabase } from './core/runtime/maintenance.js'
import { createNotifications } from './core/runtime/notifications.js'
import { registerThisProcess } from './core/runtime/process-registry.js'
import { createRateLimiter } from './core/runtime/rate-limit.js'
import { scheduleTemplateSyncs } from './core/templates/sync.js'
import { createDispatcher, type Dispatcher } from './core/webhooks/dispatcher.js'
import { schemaState } from './database/migrate.js'
import type { Database } from './database/pool.js'
import { createEndpointClient } from './endpoints/client.js'
import { hostNameOf } from './http/host-name.js'
import { createSecondAddress, type SecondAddress } from './http/second-address.js'
import { mount, mountProbesAlone } from './interfaces/mount.js'
import { createTasks } from './jobs/tasks.js'
import { createWake } from './jobs/wake.js'
import { startWorker, unlockJobs, type Worker } from './jobs/worker.js'
import { createThrottledRuns } from './lib/async/throttled-runs.js'
import { createSecretBox } from './lib/crypto/secret-box.js'
import { createSpool } from './lib/files/spool.js'
import { createAddressGuard } from './lib/http/address-guard.js'
import { createFetcher } from './lib/http/safe-fetch.js'
import type { Secrets } from './secrets.js'
import { createStorefrontClient } from './storefront/client.js'
import { createTranscriber } from './transcription/client.js'
import { createUpstreamClient } from './upstream/client.js'
import { registerWithSimulator, type SimulatedNumber, type SimulatorControl } from './upstream/simulator-link.js'

/** What the service is made from; the one who starts it opens the database and, where one is wanted, the simulator. */
export interface AppOptions {
  config: Config
  secrets: Secrets
  log: Logger
  database: Database
  upstreamUrl: string
  /** The simulator in use, if any; `passesOn`: its control is to be had through this service. */
  simulator: (SimulatorControl & { passesOn: boolean }) | null
  /** Tests set the time. */
  clock?: () => Date
  /** False in tests that work jobs off themselves. */
  runWorker?: boolean
}

/** A service that takes traffic. */
export interface App {
  ctx: Context
  server: FastifyInstance
  /** Delivers to webhooks, where this process runs a worker; tests drain it. */
  webhooks: Dispatcher
  /** The linked devices that this process runs. */
  sessions: Sessions
  /** Where it listens, such as http://127.0.0.1:8080. */
  url: string
  /** Where the gateway alone listens; null where it has no port of its own. */
  gatewayUrl: string | null
  /** No new requests, those under way finish, jobs go back to the queue; the database stays open. */
  close(): Promise<void>
}

const REAP_MS = 15_000
/** Longer than any file passes through: what is older was left behind by a process that died. */
const STALE_MS = 60 * 60_000
/** How often templates are fetched because somebody names one that is not known. */
const TEMPLATES_MS = 60_000

/** Puts the service together and starts it: context, worker, HTTP. Throws what makes it impossible (such as a taken port). */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, secrets, log, database, simulator } = options
  const clock = options.clock ?? (() => new Date())
  const servesApi = config.roles.includes('api')
  let url = ''
  const publicUrl = () => config.publicUrl ?? url
  await adoptRestoredDatabase({ database, log })
  const spool = createSpool(join(config.dataDir, 'spool'))
  await spool.sweep(STALE_MS)
  const registration = await registerThisProcess(database, log)
  const signals = createNotifications(database, registration, log)
  const guard = createAddressGuard(config.allowedPrivateHosts)
  const ctx: Context = {
    database,
    clock,
    log,
    secrets: createSecretBox(secrets.masterKeys),
    upstream: createUpstreamClient(options.upstreamUrl),
    upstreamTimeoutMs: config.upstreamTimeoutMs,
    refreshTemplates: createThrottledRuns(TEMPLATES_MS, clock),
    blobs: await openBlobStore(config.media, config.dataDir, (problem) => log.warn(problem)),
    mediaLinks: createMediaLinks(secrets.masterKeys, publicUrl),
    signInTokens: createSignInTokens(secrets.masterKeys),
    storefront: createStorefrontClient(guard),
    endpoints: createEndpointClient({ guard }),
    channelNames: config.channelNames,
    publicUrl,
    fetcher: createFetcher({
      guard,
      trustedOrigins: [new URL(options.upstreamUrl).origin],
    }),
    spool,
    fileLimiter: createFileLimiter(SENT_FILES),
    importLimiter: createFileLimiter(IMPORTED_FILES),
    exportLimiter: createFileLimiter(EXPORTED_FILES),
    transcriber: config.transcribe && createTranscriber(config.transcribe),
    processId: registration.processId,
    lookUpContact: createContactLookup(database),
    lookUpInstance: createInstanceLookup(database),
    lookUpMessage: createMessageLookup(database),
    messageWriter: createMessageWriter(database),
    reserveSendSlot: createSendRateLimiter(database),
    wakeWorkers: createWake(database, log),
    notifications: signals,
    sandboxes: simulator && openSandboxes(simulator, () => `${url}/hooks/upstream`),
    devices: (instance) => desk(instance),
    linkedLibrary: createLinkedLibrary(config.linkedDeviceLibrary, log),
    // Callbacks go to a process that takes them: the others leave the simulator as it is.
    linkWithSimulator:
      simulator && servesApi ? (number) => link(simulator, number, `${url}/hooks/upstream`, log) : null,
  }
  const freeDeadJobs = () => registration.removeDead((workerIds) => unlockJobs(database, workerIds))
  await freeDeadJobs()
  const reaper = setInterval(() => {
    freeDeadJobs().catch((error) => log.warn({ err: error }, 'dead processes could not be looked for'))
  }, REAP_MS)

  const sweeper = setInterval(() => {
    spool.sweep(STALE_MS).catch((error) => log.warn({ err: error }, 'files left behind could not be removed'))
  }, STALE_MS)

  const runsWorker = config.roles.includes('worker') && options.runWorker !== false
  const worker = runsWorker ? await startWorker(database, createTasks(ctx), log, registration.addWorker) : null
  const webhooks = createDispatcher(ctx)
  const sessions = createSessions(ctx, {
    isInstalled: isLibraryInstalled(config.linkedDeviceLibrary),
    socketUrl: config.linkedDeviceUrl,
  })
  const desk = createSessionCommands(ctx, sessions)
  const probes = {
    ctx,
    checks: readinessChecks(database, worker),
    metricsToken: config.metricsToken,
    webhookFigures: webhooks.figures,
  }
  const gatewayAddress = createSecondAddress()
  const server = servesApi
    ? mount({
        ...probes,
        adminToken: secrets.adminToken,
        simulator: simulator?.passesOn ? simulator : null,
        authenticate: createAuthenticator(ctx),
        takeToken: config.rateLimit > 0 ? createRateLimiter(ctx, config.rateLimit) : null,
        callbacks: createCallbackReceiver(ctx),
        isAtGateway: (request) =>
          gatewayAddress.has(request) ||
          (config.gatewayHost !== undefined && hostNameOf(request) === config.gatewayHost),
      })
    : mountProbesAlone(probes)
  gatewayAddress.attach(server)

  async function close(): Promise<void> {
    clearInterval(reaper)
    clearInterval(sweeper)
    await server.close()
    await Promise.all([worker?.stop(), webhooks.stop(), sessions.stop()])
    await ctx.upstream.close()
    await ctx.storefront.close()
    await ctx.endpoints.close()
    await ctx.transcriber?.close()
    await ctx.fetcher.close()
    await ctx.blobs.close()
    await signals.close()
    await registration.leave()
  }

  try {
    url = await listen(server, config)
    const gatewayUrl = servesApi ? await listenForGateway(gatewayAddress, config) : null
    if (gatewayUrl !== null) log.info(`the gateway answers on ${gatewayUrl}`)
    await linkAllWithSimulator(ctx)
    if (servesApi) await registerAllWithSimulator(ctx)
    if (runsWorker) {
      await scheduleTemplateSyncs(ctx)
      await scheduleReconciling(ctx)
      webhooks.start()
      ctx.wakeWorkers()
    }
    if (config.roles.includes('gateway')) sessions.start()
    return { ctx, server, webhooks, sessions, url, gatewayUrl, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The built-in simulator has to know every number; what else listens on this machine need not be a simulator at all. */
async function link(
  simulator: SimulatorControl & { passesOn: boolean },
  number: SimulatedNumber,
  callbackUrl: string,
  log: Logger,
): Promise<void> {
  try {
    await registerWithSimulator(simulator, number, callbackUrl)
  } catch (error) {
    if (simulator.passesOn) throw error
    log.info(
      { reason: (error as Error).message },
      'the upstream on this machine takes no numbers: it is no simulator, or not up',
    )
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

function readinessChecks(database: Database, worker: Worker | null) {
  return {
    database: async () => {
      await database.pool.query('SELECT 1')
      return null
    },
    migrations: async () => {
      const state = await schemaState(database.pool)
      if (state === 'empty') return 'the database has no tables yet: run parley migrate'
      return state === 'current' ? null : `the schema is ${state} of this version: run parley migrate`
    },
    worker: async () => (worker === null || worker.isRunning() ? null : 'the worker has ended'),
  }
}
