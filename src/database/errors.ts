import { NoPlaceError, type Shortage } from '../lib/async/fair-places.js'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const DEADLOCK = '40P01'
const LOCK_TIMEOUT = '55P03'
const QUERY_CANCELED = '57014'
const DISK_FULL = '53100'

/** SQLSTATE classes and codes, and socket errors, after which the same request may succeed later. */
const UNAVAILABLE = new Set([
  '57P01', // admin shutdown
  '57P02', // crash shutdown
  '57P03', // cannot connect now
  '57P04', // database dropped
  '57P05', // idle session timeout
  '25P03', // idle in transaction timeout
  '55000', // not accepting connections
  '25006', // read-only, such as a standby
  '53300', // too many connections
  DISK_FULL,
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH', // the machine is off
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT', // the embedded server's socket while it restarts
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** node-postgres's messages, without a code, for a broken connection or a full pool. */
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout', // the server did not answer, not even after the statement timeout
  'Client has encountered a connection error',
  'Cannot use a pool after calling end on the pool',
]

const SQLSTATE = /^\d[0-9A-Z]{4}$/

/** A connection that has to write has reached a standby: no standby has been promoted yet, or an address is stale. */
export class StandbyError extends Error {
  constructor() {
    super('the server is a standby, which only reads: the connection must lead to the primary')
  }
}

/** True if a unique constraint (of this name, if given) was violated. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, constraint: violated } = error as { code?: unknown; constraint?: unknown }
  return code === UNIQUE_VIOLATION && (constraint === undefined || constraint === violated)
}

/** True if a referenced row does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return (error as { code?: unknown }).code === FOREIGN_KEY_VIOLATION
}

/** True if a value has not the form, or is not in the range, of its type. */
export function isDataException(error: unknown): boolean {
  return /^22[0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code))
}

/** True if the statement was aborted because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown }).code === DEADLOCK
}

/** True if the statement waited for a lock for longer than lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_TIMEOUT
}

/** True if the statement took longer than statement_timeout; it changed nothing. */
export function isStatementTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === QUERY_CANCELED
}

/**
 * True if only the primary can run the statement: the replica cancelled it because it would have delayed the log
 * (40001, 40P01), or lacks what the newest migration has added (class 42).
 */
export function isUnfitReplica(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && (code === '40001' || code === DEADLOCK || /^42/.test(code))
}

/** Why no connection was free in time. `own`: the organization used its whole share; null: it is another error. */
export function connectionShortage(error: unknown): Shortage | null {
  return error instanceof NoPlaceError ? error.shortage : null
}

/** True if the database's disk has no room for a write; it changed nothing. */
export function isDatabaseFull(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === DISK_FULL
}

/** True if PostgreSQL could not be reached, went away, had no free connection or no room: a 503, not a bug. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof NoPlaceError || error instanceof StandbyError) return true
  // A name with several addresses fails once for all of them.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable)
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (typeof code === 'string' && UNAVAILABLE.has(code)) return SQLSTATE.test(code) || typeof syscall === 'string'
  return UNAVAILABLE_MESSAGES.some((message) => error.message.includes(message))
}
