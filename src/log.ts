import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import pretty from 'pino-pretty'
import type { LogLevel } from './config/values.js'

export type { Logger } from 'pino'

const secretFields = [
  'authorization',
  'apikey',
  'cookie',
  'access_token',
  'accessToken',
  'app_secret',
  'appSecret',
  'verify_token',
  'verifyToken',
  'webhook_secret',
  'password',
  'secret',
  'token',
  'key',
]

/** pino's number of the level debug. */
const DEBUG = 20

/** Tells whether the error of an entry is told elsewhere, so that the entry is only for debugging. */
export type IsToldElsewhere = (error: unknown) => boolean

/**
 * Creates the process's logger: JSON on standard error, readable lines on a terminal (`PARLEY_LOG_LEVEL`). Fields with
 * names of secrets are censored in the logged object and two levels below it, such as `req.headers.apikey`.
 */
export function createLogger(
  level: LogLevel,
  destination: DestinationStream = standardError(),
  isToldElsewhere: IsToldElsewhere = () => false,
): Logger {
  const options: LoggerOptions = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
    hooks: {
      logMethod(given, method, entryLevel) {
        const { err } = (given[0] ?? {}) as { err?: unknown }
        if (entryLevel > DEBUG && err !== undefined && isToldElsewhere(err)) this.debug(...given)
        else method.apply(this, given)
      },
    },
  }
  return pino(options, destination)
}

/** Leaves out PostgreSQL's details of rows, which contain names, numbers and addresses of people. */
function describeError(error: Error): unknown {
  const { detail, where, ...told } = stdSerializers.err(error)
  return told
}

// Written synchronously, so that the last lines before a crash are not lost.
function standardError(): DestinationStream {
  if (process.stderr.isTTY) return pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss.l' })
  return pino.destination({ fd: 2, sync: true })
}
