import type { PoolClient } from 'pg'
import type { Logger } from 'pino'
import type { Database, Queryable } from '../../database/pool.js'
import { backoffDelay, sleep } from '../../lib/async/backoff.js'
import { listenToProcesses } from '../../storage/runtime/notifications.js'
import {
  listDeadProcesses,
  registerProcess,
  registerProcessAgain,
  removeDeadProcesses,
  removeProcess,
  setProcessWorkers,
} from '../../storage/runtime/process-registry.js'

/** Hears what the processes of the service are told. */
export interface ProcessListener {
  hear(payload: string): void
  /** What follows is heard from now on; what was told before may have been lost. */
  missed(): void
}

/** This process as the others see it. */
export interface ProcessRegistration {
  processId: number
  /** Notes one more id under which a worker of this process locks jobs. */
  addWorker(workerId: string): Promise<void>
  /** Removes dead processes now, once `unlock` has freed the jobs of their workers: who dies meanwhile leaves both to the next. */
  removeDead(unlock: (workerIds: string[]) => Promise<void>): Promise<void>
  /** Has what the processes are told heard from soon on; of one listener, the last. */
  listen(listener: ProcessListener): void
  /** Leaves in order. */
  leave(): Promise<void>
}

/**
 * Registers this process and keeps it registered: it lives while it holds an advisory lock on a connection of its own, so
 * that others know the moment it dies, without a clock. A broken connection is replaced.
 */
export async function registerThisProcess(database: Database, log: Logger): Promise<ProcessRegistration> {
  const leaving = new AbortController()
  const workerIds: string[] = []
  let listener: ProcessListener | null = null
  let connection: PoolClient | null = await database.pool.connect()
  let reentry: Promise<void> = Promise.resolve()
  const processId = await registerProcess(statementsOn(connection))
  watch(connection)

  /** The pool drops a client that breaks; its end is the sign to take the lock on another one. */
  function watch(client: PoolClient): void {
    client.once('end', () => {
      if (!leaving.signal.aborted) reentry = reenter()
    })
    client.on('notification', ({ payload }) => listener?.hear(payload ?? ''))
  }

  /** The pool ends only when it has every client back, and takes each back once. */
  function giveBack(): void {
    connection?.release(true)
    connection = null
  }

  async function reenter(): Promise<void> {
    giveBack()
    for (let attempt = 1; !leaving.signal.aborted; attempt++) {
      try {
        connection = await database.pool.connect()
        await registerProcessAgain(statementsOn(connection), processId, workerIds)
        if (listener) await listenToProcesses(connection)
        watch(connection)
        listener?.missed()
        return
      } catch (error) {
        giveBack()
        log.warn({ err: error }, 'this process is not registered in the database; trying again')
        await sleep(backoffDelay(attempt, { baseMs: 100, maxMs: 2_000, jitter: 0.5 }), leaving.signal).catch(
          () => undefined,
        )
      }
    }
  }

  return {
    processId,
    addWorker: (id) => {
      workerIds.push(id)
      return setProcessWorkers(database, processId, workerIds)
    },
    removeDead: async (unlock) => {
      const dead = await listDeadProcesses(database, processId)
      if (dead.length === 0) return
      await unlock(dead.flatMap((process) => process.worker_ids))
      await removeDeadProcesses(
        database,
        dead.map(({ id }) => id),
      )
    },
    listen: (wanted) => {
      listener = wanted
      // Where there is no connection now, or this one breaks, the next one listens.
      if (connection) {
        listenToProcesses(connection).then(wanted.missed, (error) => log.debug({ err: error }, 'could not listen'))
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

/** The registry's own connection: its few statements are not prepared. */
function statementsOn(client: PoolClient): Pick<Queryable, 'run'> {
  return {
    run: async <Row>({ text }: { text: string }, values: readonly unknown[]) =>
      (await client.query({ text, values: [...values] })).rows as Row[],
  }
}
