import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Connection } from '../../src/database/pool.js'

/** A connection to the database that can be cut and restored, or frozen. */
export interface DatabaseProxy {
  /** The database through the proxy. */
  connection: Connection
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>
  /** Lets connections through again. */
  restore(): Promise<void>
  /** Takes everything, passes nothing on and closes nothing, as a server whose machine hangs. */
  freeze(): void
  /** Passes on what it has taken, and everything after it. */
  thaw(): void
  close(): Promise<void>
}

/** Starts a proxy on a free port in front of a database. */
export async function startProxy(target: Connection): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>()
  let held: (() => void)[] | null = null
  const passOn = (act: () => void) => {
    if (held === null) act()
    else held.push(act)
  }
  const server = createServer((incoming) => {
    const outgoing = connect(addressOf(target))
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (chunk) => passOn(() => to.write(chunk)))
      from.on('end', () => passOn(() => to.end()))
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    connection: throughPort(target, port),
    cut,
    restore: async () => {
      await listen(port)
    },
    freeze: () => {
      held = []
    },
    thaw: () => {
      const acts = held ?? []
      held = null
      for (const act of acts) act()
    },
    close: async () => {
      if (server.listening) await cut()
    },
  }
}

function addressOf(target: Connection): NetConnectOpts {
  if ('connectionString' in target) {
    const { hostname, port } = new URL(target.connectionString)
    return { host: hostname, port: Number(port || 5432) }
  }
  const { host, port } = target
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

function throughPort(target: Connection, port: number): Connection {
  if (!('connectionString' in target)) return { ...target, host: '127.0.0.1', port }
  const url = new URL(target.connectionString)
  url.host = `127.0.0.1:${port}`
  return { connectionString: url.href }
}
