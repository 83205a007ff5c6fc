import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import pretty from 'pino-pretty'
import type { LogLevel } from './config.js'

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
 * The process's logger: structured JSON on standard error, pretty on a terminal (contract 1, `PARLEY_LOG_LEVEL`).
 * Fields named like a secret are censored in the logged object and two levels below it, such as `req.headers.apikey`.
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

/** An error without what PostgreSQL adds of the rows that it is about: those hold names, numbers and addresses of people. */
function describeError(error: Error): unknown {
  const { detail, where, ...told } = stdSerializers.err(error)
  return told
}

// Written at once, so that the last lines before a crash are not lost.
function standardError(): DestinationStream {
  if (process.stderr.isTTY) return pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss.l' })
  return pino.destination({ fd: 2, sync: true })
}
