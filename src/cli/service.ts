import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/index.js'
import { type App, startApp } from '../app.js'
import { configWarnings } from '../config/checks.js'
import type { Config } from '../config/settings.js'
import { connectionShortage, isDatabaseFull, isDatabaseUnavailable } from '../database/errors.js'
import { type OutageWatch, watchPartialOutage } from '../lib/async/outages.js'
import { isDiskFull } from '../lib/files/disk.js'
import { isFfmpegInstalled } from '../lib/files/ffmpeg.js'
import { packageVersion } from '../lib/files/package-version.js'
import { isOnThisMachine } from '../lib/http/loopback.js'
import { createLogger, type Logger } from '../log.js'
import type { Secrets } from '../secrets.js'
import {
  type OpenDatabase,
  openConfiguredDatabase,
  openServiceDatabases,
  prepareSchema,
  requireKnownKey,
  requireSecrets,
} from './environment.js'
import { CliFailure } from './failure.js'
import { explainListenError, requireFreePort } from './listening.js'
import type { EndRequest } from './signals.js'

/** A running service and its parts. */
export interface Service {
  app: App
  secrets: Secrets
  log: Logger
  /** The built-in sandbox; null without it. */
  simulator: Pick<Simulator, 'storefrontUrl' | 'upstreamUrl'> | null
  /** Resolves when the process is asked to end. Throws a CliFailure with code 1 if an essential part ended. */
  untilAskedToEnd(): Promise<void>
  /** Ends all parts in the reverse order of their start. */
  close(): Promise<void>
}

const NEWER_SCHEMA = 'the database was migrated by a newer version, beside which this one can run'
/** Open connections work while new ones are refused, so an answer alone does not end an outage. */
const DATABASE_QUIET_MS = 5_000
/** Only what is written fails, so nothing shows that there is room again but that nothing fails. */
const DISK_QUIET_MS = 60_000
const NO_FFMPEG =
  'ffmpeg was not found on the PATH: audio that is not OGG/Opus is sent as a file instead of a voice note, and files that need conversion are refused'

/**
 * Starts everything that the configuration requires. Throws a CliFailure if the operator must act, and AskedToEnd if
 * the request to end came first; then nothing is left running.
 */
export async function startService(
  config: Config,
  options: { migrate: boolean | 'if empty'; sandbox?: Pick<SimulatorOptions, 'strict'> },
  { signal, asked }: EndRequest,
): Promise<Service> {
  const database = watchPartialOutage(
    {
      fails: (facts) => log.warn(facts, 'the database does not answer; requests are answered with 503, and work waits'),
      worksAgain: (facts) => log.warn(facts, 'the database answers again'),
    },
    DATABASE_QUIET_MS,
  )
  const disk = watchPartialOutage(
    {
      fails: (facts) => log.warn(facts, 'a disk is full; what cannot be stored is answered with 503: make room'),
      worksAgain: (facts) => log.warn(facts, 'for a minute nothing has failed because of a full disk'),
    },
    DISK_QUIET_MS,
  )
  const log = createLogger(
    config.logLevel,
    undefined,
    (error) => noteFullDisk(disk, error) || noteOutage(database, error),
  )
  for (const warning of configWarnings(config)) log.warn(warning)
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    const failures: unknown[] = []
    // If one fails to end, the others still must.
    for (const end of closers.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  /** Registers a started part, unless the process was asked to end meanwhile. */
  const keep = <Started>(started: Started, end: (started: Started) => Promise<void>): Started => {
    closers.push(() => end(started))
    signal.throwIfAborted()
    return started
  }

  try {
    await requireFreePort(config)
    const secrets = await requireSecrets(config)
    signal.throwIfAborted()
    const open = keep(await openConfiguredDatabase(config, log, { hold: true }), (database) => database.close())
    const schema = await prepareSchema(config, open.database, options)
    await requireKnownKey(config, open.database, secrets)
    const databases = keep(openServiceDatabases(config, open, log), (opened) => opened.close())
    const simulator =
      config.upstreamUrl === 'sandbox'
        ? keep(await startBuiltInSimulator(secrets, log, options.sandbox), (started) => started.close())
        : null
    const upstreamUrl = simulator?.upstreamUrl ?? config.upstreamUrl
    const control = simulatorControl(config, simulator, secrets)
    const parts = {
      config,
      secrets,
      log,
      databases,
      upstreamUrl,
      simulator: control,
      onDatabaseAnswer: () => {
        database.worked()
        disk.worked()
      },
    }
    const app = keep(await startApp(parts), (started) => started.close())
    // Logged only now: a refused start prints the reason and nothing else.
    log.info(`parley ${packageVersion} on Node ${process.version}`)
    if (schema.newer.length > 0) log.info(NEWER_SCHEMA)
    if (!(await isFfmpegInstalled())) log.info(NO_FFMPEG)
    const untilAskedToEnd = async () => {
      const name = await Promise.race([asked, databaseLost(open)])
      log.info(`${name}: finishing requests and jobs in progress`)
    }
    return { app, secrets, log, simulator, close, untilAskedToEnd }
  } catch (error) {
    await close()
    throw explainListenError(error, config)
  }
}

function startBuiltInSimulator(
  { adminToken }: Secrets,
  log: Logger,
  options: Pick<SimulatorOptions, 'strict'> = {},
): Promise<Simulator> {
  return startSimulator({ ...options, controlToken: adminToken, log: (line) => log.debug(line) })
}

/** Whether the error is one of a full disk: what fails by it is told once for all. */
function noteFullDisk(disk: OutageWatch, error: unknown): boolean {
  if (!isDatabaseFull(error) && !isDiskFull(error)) return false
  disk.failed((error as Error).message)
  return true
}

/**
 * Whether the error is one of a database that does not answer: what fails by it is told once for all. A wait for a
 * connection in vain is one only during an outage, as an effect of it; otherwise the load is the reason.
 */
function noteOutage(database: OutageWatch, error: unknown): boolean {
  if (!isDatabaseUnavailable(error)) return false
  if (connectionShortage(error) !== null) return database.isOut()
  database.failed(error instanceof Error ? error.message : String(error))
  return true
}

/** The simulator with which numbers are registered: the built-in one, or one on this machine. */
function simulatorControl({ upstreamUrl }: Config, simulator: Simulator | null, secrets: Secrets) {
  if (simulator) return { controlUrl: `${simulator.url}/_sim`, token: secrets.adminToken, passesOn: true }
  if (!isOnThisMachine(upstreamUrl)) return null
  return { controlUrl: `${new URL(upstreamUrl).origin}/_sim`, token: null, passesOn: false }
}

async function databaseLost({ ended }: OpenDatabase): Promise<never> {
  await ended
  throw new CliFailure(
    1,
    'The embedded database ended unexpectedly: its messages are in the log; start the service again',
  )
}
