import { type Simulator, startSimulator } from '../../simulator/index.js'
import { type App, startApp } from '../app.js'
import type { Config } from '../config.js'
import { migrate } from '../database/migrate.js'
import { TASK_NAMES } from '../jobs/tasks.js'
import { createLogger, type Logger } from '../log.js'
import type { Secrets } from '../secrets.js'
import { type OpenDatabase, openConfiguredDatabase, requireCurrentSchema, requireSecrets } from './environment.js'
import { CliFailure } from './failure.js'

/** A running service with all that belongs to it. */
export interface Service {
  app: App
  secrets: Secrets
  log: Logger
  /** Resolves with the signal's name when the process is asked to end. Throws when something it cannot do without ended. */
  untilAskedToEnd(): Promise<string>
  close(): Promise<void>
}

/** Starts everything that this configuration names. Throws a CliFailure where the operator has to do something. */
export async function startService(config: Config, options: { migrate: boolean }): Promise<Service> {
  const log = createLogger(config.logLevel)
  const secrets = await requireSecrets(config)
  const asked = listenForSignals()
  const open = await openConfiguredDatabase(config, log, { hold: true })
  let simulator: Simulator | null = null
  try {
    await prepareSchema(config, open, options.migrate)
    if (config.upstreamUrl === 'sandbox') {
      simulator = await startSimulator({ controlToken: secrets.adminToken, log: (line) => log.debug(line) })
    }
    const app = await startApp({
      config,
      secrets,
      log,
      database: open.database,
      upstreamUrl: simulator?.upstreamUrl ?? config.upstreamUrl,
      simulator: simulatorControl(config, simulator, secrets),
    })
    const close = async () => {
      await app.close()
      await simulator?.close()
      await open.close()
    }
    return { app, secrets, log, close, untilAskedToEnd: () => untilAskedToEnd(asked, open) }
  } catch (error) {
    await simulator?.close()
    await open.close()
    throw explain(error, config)
  }
}

async function prepareSchema(config: Config, { database }: OpenDatabase, wanted: boolean): Promise<void> {
  if (wanted || config.databaseUrl === undefined) await migrate(database.pool, TASK_NAMES)
  await requireCurrentSchema(database)
}

/** The simulator to which numbers are made known: the built-in one, or one that runs beside us on this machine. */
function simulatorControl({ upstreamUrl }: Config, simulator: Simulator | null, secrets: Secrets) {
  if (simulator) return { controlUrl: `${simulator.url}/_sim`, token: secrets.adminToken, passesOn: true }
  const { hostname, origin } = new URL(upstreamUrl)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  return isLoopback ? { controlUrl: `${origin}/_sim`, token: null, passesOn: false } : null
}

function explain(error: unknown, { host, port }: Config): unknown {
  const { code } = error as { code?: unknown }
  if (code === 'EADDRINUSE') {
    return new CliFailure(
      2,
      `PARLEY_PORT=${port}: the port is taken on ${host}: choose another one, or 0 for any free one`,
    )
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND') {
    return new CliFailure(2, `PARLEY_HOST=${host}, PARLEY_PORT=${port}: cannot listen there (${code})`)
  }
  return error
}

/** From the first moment on: a signal that comes while we start must not leave a database behind. */
function listenForSignals(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal)
        // Asked twice, the person means it.
        process.once(signal, () => process.exit(1))
      })
    }
  })
}

function untilAskedToEnd(asked: Promise<string>, { ended }: OpenDatabase): Promise<string> {
  const lost = ended.then(() => {
    throw new CliFailure(
      1,
      'The embedded database ended unexpectedly: its messages are in the log; start the service again',
    )
  })
  return Promise.race([asked, lost])
}
