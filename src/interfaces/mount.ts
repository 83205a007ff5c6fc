import type { IncomingMessage } from 'node:http'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { LiveContext, RequestContext } from '../context.js'
import type { CallbackReceiver } from '../core/callbacks/receive/receiver.js'
import { countFailedWork, findDueWork } from '../core/maintenance/failed-work.js'
import { findCallbackFigures, measureStorage } from '../core/maintenance/maintenance.js'
import { findDeliveryFigures, findLeaseFigures, findLongestQueues } from '../core/maintenance/queues.js'
import { findNumberFigures } from '../core/organizations/connecting/figures.js'
import { findProcesses } from '../core/processes/process-registry.js'
import { findPausedCount } from '../core/scheduled/control.js'
import type { WebhookFigures } from '../core/webhooks/delivery/dispatcher.js'
import { createAdminGuard, createGuard } from '../http/access/auth.js'
import { createSessionGuard } from '../http/access/session.js'
import { sendProblem } from '../http/answers/problems.js'
import { watchDiskFaults } from '../http/disk-faults.js'
import { type HealthOptions, healthRoutes } from '../http/health.js'
import {
  type ConnectionFigures,
  type CountJobs,
  type Disks,
  measureRequests,
  showBackup,
  showCallbacks,
  showConnections,
  showDeliveries,
  showDisks,
  showFleet,
  showJobs,
  showLeases,
  showNumbers,
  showScheduled,
  showTables,
  showWebhooks,
} from '../http/metrics.js'
import { createServer, refuseOtherMethods } from '../http/server.js'
import { traceRequests } from '../http/trace-requests.js'
import { createSemaphore } from '../lib/async/semaphore.js'
import { startCountdown, withTimeout } from '../lib/async/timeout.js'
import { adminDescription } from './admin/openapi.js'
import { adminRoutes } from './admin/routes.js'
import { apiDescription } from './api/openapi.js'
import { apiRoutes } from './api/routes.js'
import { consoleRoutes } from './console/routes.js'
import { docsRoutes } from './docs/routes.js'
import type { GatewayGate } from './gateway/auth.js'
import { sendGatewayProblem } from './gateway/errors.js'
import { GATEWAY, isGatewayUrl, toMountedUrl, withoutTrailingSlash } from './gateway/path.js'
import { gatewayRoutes } from './gateway/routes.js'
import { hookRoutes } from './hooks/routes.js'
import { linkRoutes } from './links/routes.js'
import { mediaRoutes } from './media/routes.js'
import { rootRoutes } from './root.js'
import { type SimulatorAddress, simulatorRoutes } from './simulator/routes.js'

/** Options of the probes (health and metrics). */
export interface ProbeOptions extends Pick<HealthOptions, 'checks' | 'metricsToken' | 'registry'> {
  ctx: RequestContext
  live: LiveContext
  /** For /metrics. */
  connections: ConnectionFigures
  /** For /metrics. */
  disks: Disks
  /** The point of the last backup that the service knows of, for /metrics. */
  findLastBackup: () => Promise<Date | null>
  /** Figures of this process's webhook deliveries, for /metrics. */
  webhookFigures: () => WebhookFigures
  /** The number of running jobs of each class in this process, for /metrics. */
  countRunningJobs: CountJobs
}

/** Options of the interfaces. */
export interface MountOptions extends GatewayGate, ProbeOptions {
  adminToken: string
  callbacks: CallbackReceiver
  /** Whether a request came to the gateway's own address, where its paths begin at the root. */
  isAtGateway: (request: IncomingMessage) => boolean
  /** The simulator whose control API is forwarded under /_sim; null: not mounted. */
  simulator: SimulatorAddress | null
}

/** Figures that are not read by then are left out. So a scrape is answered within 3 s; Prometheus waits 10 s. */
const FIGURES_MS = 2_500

/** The server of a process without interfaces: only the probes. */
export function mountProbesOnly(options: ProbeOptions): FastifyInstance {
  const server = createServer(options.ctx.log)
  const otherMethods = refuseOtherMethods(server)
  mountProbes(server, options)
  server.register(otherMethods)
  return server
}

/** The mount table: which interface answers where. */
export function mount(options: MountOptions): FastifyInstance {
  const { ctx, simulator, isAtGateway } = options
  const server = createServer(ctx.log, {
    rewriteUrl: (request) => {
      const { url = '/' } = request
      return withoutTrailingSlash(isAtGateway(request) ? toMountedUrl(url) : url)
    },
    sendUrlProblem: (error, request, reply) =>
      (isGatewayUrl(request.url) ? sendGatewayProblem : sendProblem)(error, request, reply),
  })
  server.decorateRequest('caller', null)
  server.decorateRequest('isOperator', false)
  traceRequests(server, ctx.tracer)
  server.decorateRequest('memberSession', null)
  const otherMethods = refuseOtherMethods(server, ['/docs', GATEWAY])
  mountProbes(server, options)
  server.register(swagger, apiDescription)
  server.register(swagger, adminDescription)
  docsRoutes(server)
  rootRoutes(server)
  server.get('/openapi.json', { schema: { hide: true } as object }, () => server.swagger())

  server.register(async (guarded) => {
    guarded.addHook('onRequest', createGuard(options))
    guarded.register(apiRoutes(ctx))
  })
  const console = {
    ctx,
    live: options.live,
    guard: createSessionGuard(ctx, options.takeToken),
    interfaceA: apiRoutes(ctx),
  }
  server.register(consoleRoutes(console), { prefix: '/console' })
  server.register(gatewayRoutes(ctx, options), { prefix: GATEWAY })
  server.register(hookRoutes(ctx, options.callbacks), { prefix: '/hooks' })
  server.register(mediaRoutes(ctx), { prefix: '/media' })
  server.register(linkRoutes(ctx), { prefix: '/s' })
  const adminGuard = createAdminGuard(ctx, options.adminToken)
  server.register(adminRoutes(ctx, adminGuard), { prefix: '/admin' })
  if (simulator) server.register(simulatorRoutes(simulator, adminGuard), { prefix: '/_sim' })
  server.register(otherMethods)
  return server
}

function mountProbes(server: FastifyInstance, options: ProbeOptions): void {
  const { ctx, live, connections, disks, checks, registry, metricsToken, webhookFigures, countRunningJobs } = options
  measureRequests(server, registry)
  const isDiskFull = watchDiskFaults(server)
  showConnections(registry, connections)
  showDisks(registry, disks)
  showBackup(registry, options.findLastBackup)
  showWebhooks(registry, webhookFigures)
  const figures = figuresWithin(live, FIGURES_MS)
  // What tells that the database can be read goes first.
  showFleet(registry, {
    processes: figures(findProcesses),
    longestQueues: figures((ctx) => findLongestQueues(ctx, 1)),
  })
  showCallbacks(registry, figures(findCallbackFigures))
  showTables(registry, figures(measureStorage))
  showJobs(registry, {
    running: countRunningJobs,
    due: figures(findDueWork),
    failed: figures(countFailedWork),
  })
  showDeliveries(registry, figures(findDeliveryFigures))
  showLeases(registry, figures(findLeaseFigures))
  const findNumbers = figures(findNumberFigures)
  showNumbers(registry, findNumbers)
  showScheduled(registry, figures(findPausedCount))
  server.register(healthRoutes({ checks, findNumbers, isDiskFull, registry, log: ctx.log, metricsToken }))
}

/**
 * Makes readers of figures that read one at a time, so that slow counting keeps one connection of those that probes and
 * live events share, and not all. A reader rejects after `ms`.
 */
function figuresWithin(live: LiveContext, ms: number) {
  const oneAtATime = createSemaphore(1)
  return <Figures extends object | number>(find: (ctx: LiveContext) => Promise<Figures>) =>
    async (): Promise<Figures> => {
      const left = startCountdown(ms)
      const late = () => new Error(`the database did not answer within ${ms / 1_000} s`)
      const reading = oneAtATime(() => {
        // Nobody waits for it any more.
        if (left() === 0) throw late()
        return find(live)
      })
      const figures = await withTimeout(reading, ms)
      if (figures === null) throw late()
      return figures
    }
}
