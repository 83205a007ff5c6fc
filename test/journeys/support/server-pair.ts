import { startHttpServer } from '../../support/http-server.js'
import { until } from '../../support/until.js'
import { type ArchivingServer, ask, startArchivedServer } from './archiving-server.js'
import { startDatabaseProxy } from './proxies.js'

/** A primary and a standby with synchronous replication, behind a proxy that leads to the primary. */
export interface ServerPair {
  /** The database of Parley at the address of the proxy. */
  url: string
  /** Ends the primary, as if its machine lost its power. */
  killPrimary(): Promise<void>
  /** Makes the standby the primary. */
  promoteStandby(): Promise<void>
  /** Ends everything. */
  stop(): Promise<void>
}

/** Starts both servers and the proxy, and waits until commits wait for the standby and no connection leads there. */
export async function startServerPair(programs: string, folder: string): Promise<ServerPair> {
  const primary = await startArchivedServer(programs, folder)
  const standby = await primary.startStandby()
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await primary.query('SELECT pg_reload_conf()')
  await until(async () => {
    const replicas = await primary.query('SELECT sync_state FROM pg_stat_replication')
    return replicas.some(({ sync_state: state }) => state === 'sync')
  })
  const places = await Promise.all([primary, standby].map(startRoleCheck))
  const proxy = await startDatabaseProxy(folder, places)
  const url = primary.url.replace(/:\d+\//, `:${portOf(proxy.url)}/`)
  // The proxy takes turns between the servers until a check has failed.
  await until(async () => !(await isStandby(url)) && !(await isStandby(url)))
  let isKilled = false
  return {
    url,
    killPrimary: async () => {
      isKilled = true
      await primary.kill()
    },
    promoteStandby: () => standby.promote(),
    stop: async () => {
      await proxy.stop()
      await Promise.all(places.map(({ close }) => close()))
      await standby.stop()
      // A server that was killed leaves shared memory behind, until it is started and stopped.
      if (isKilled) await primary.start()
      await primary.stop()
    },
  }
}

/** Answers at a port as the interface of Patroni does at /primary: 200 if the server at the URL accepts writes. */
async function startRoleCheck({ url }: ArchivingServer) {
  const check = await startHttpServer((_request, response) => {
    const answer = (status: number) => void response.writeHead(status).end()
    isStandby(url).then(
      (standby) => answer(standby ? 503 : 200),
      () => answer(503),
    )
  })
  return { port: portOf(url), checkPort: portOf(check.url), close: check.close }
}

async function isStandby(url: string): Promise<boolean> {
  const [row] = await ask(url, 'SELECT pg_is_in_recovery() AS standby')
  return row?.standby === true
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
