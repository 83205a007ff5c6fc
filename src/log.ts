import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
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

/**
 * Creates the process's logger: JSON on standard error, readable lines on a terminal (`PARLEY_LOG_LEVEL`). Fields with
 * names of secrets are censored in the logged object and two levels below it, such as `req.headers.apikey`.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
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
