import type { PoolClient } from 'pg'
import type { Logger } from 'pino'
import type { Borrowed } from '../../database/connections.js'
import type { Database, Queryable } from '../../database/pool.js'
import { backoffDelay, sleep } from '../../lib/async/backoff.js'
import { createLasting } from '../../lib/async/lasting.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { listenToProcesses } from '../../storage/processes/notifications.js'
import {
  DEAD_MS,
  type LiveProcess,
  listProcesses,
  registerProcess,
  registerProcessAgain,
  removeDeadProcesses,
  removeProcess,
} from '../../storage/processes/process-registry.js'

/** Receives the notifications of the service's processes. */
export interface ProcessListener {
  receive(payload: string): void
  /** The connection is new, so earlier notifications may be lost. */
  missed(): void
}

/** This process as the others see it. */
export interface ProcessRegistration {
  processId: number
  /**
   * Removes the processes that it has found dead for DEAD_MS. If it is not registered itself, it removes none and is
   * registered again. Returns the database's time.
   */
  removeDead(): Promise<Date>
  /** Sets the listener of notifications; there is one. */
  listen(listener: ProcessListener): void
  /** Unregisters this process at shutdown. */
  leave(): Promise<void>
}

/**
 * Waits before it is registered again: shorter than DEAD_MS, so that others do not remove a process that learns at once
 * that its connection is broken. One that learns it late, or whose new connections take long, may be removed.
 */
const REENTRY_BACKOFF = { baseMs: 100, maxMs: 500, jitter: 0.5 }

/**
 * Registers this process and keeps it registered. A process counts as alive while it holds an advisory lock on its own
 * connection, so that others notice its death at once, without a clock. A broken connection is replaced.
 */
export async function registerThisProcess(database: Database, log: Logger): Promise<ProcessRegistration> {
  const leaving = new AbortController()
  const dead = createLasting()
  let listener: ProcessListener | null = null
  let connection: Borrowed | null = await database.borrow(null)
  let reentry: Promise<void> = Promise.resolve()
  let isReentering = false
  const processId = await registerProcess(statementsOn(connection.client), packageVersion)
  watch(connection.client)

  /** The pool drops a broken client; then the lock is taken on another one. */
  function watch(client: PoolClient): void {
    client.once('end', () => {
      if (connection?.client === client) reenter()
    })
    client.on('notification', ({ payload }) => listener?.receive(payload ?? ''))
  }

  /** The pool closes only when every client is given back, and each can be given back only once. */
  function giveBack(): void {
    connection?.giveBack(new Error('the connection may still hold the lock'))
    connection = null
  }

  function reenter(): void {
    if (isReentering || leaving.signal.aborted) return
    isReentering = true
    reentry = registerAgain().finally(() => {
      isReentering = false
    })
  }

  async function registerAgain(): Promise<void> {
    giveBack()
    for (let attempt = 1; !leaving.signal.aborted; attempt++) {
      try {
        connection = await database.borrow(null)
        const { client } = connection
        await registerProcessAgain(statementsOn(client), processId, packageVersion)
        if (listener) await listenToProcesses(client)
        watch(client)
        listener?.missed()
        return
      } catch (error) {
        giveBack()
        log.warn({ err: error }, 'this process is not registered in the database; trying again')
        await sleep(backoffDelay(attempt, REENTRY_BACKOFF), leaving.signal).catch(() => undefined)
      }
    }
  }

  return {
    processId,
    removeDead: async () => {
      try {
        const found = await removeDeadProcesses(database, processId, dead.since(DEAD_MS))
        dead.note(found.dead)
        // The end of a connection to a machine that is off is noticed late, and other connections may work before.
        if (!found.isRegistered) reenter()
        return found.now
      } catch (error) {
        // After an outage, those that were dead before it have time to be registered again, too.
        dead.note([])
        throw error
      }
    },
    listen: (wanted) => {
      listener = wanted
      // Without a working connection, the next one subscribes.
      if (connection) {
        listenToProcesses(connection.client).then(wanted.missed, (error) =>
          log.debug({ err: error }, 'could not listen'),
        )
      }
    },
    leave: async () => {
      leaving.abort()
      await reentry
      await removeProcess(database, processId).catch(() => undefined)
      giveBack()
    },
  }
}

/** The registry's own connection does not prepare its few statements. */
function statementsOn(client: PoolClient): Pick<Queryable, 'run'> {
  return {
    run: async <Row>({ text }: { text: string }, values: readonly unknown[]) =>
      (await client.query({ text, values: [...values] })).rows as Row[],
  }
}

export { type LiveProcess, readDatabaseTime } from '../../storage/processes/process-registry.js'

/** The processes of the service that are running. */
export function findProcesses({ database }: { database: Queryable }): Promise<LiveProcess[]> {
  return listProcesses(database)
}
