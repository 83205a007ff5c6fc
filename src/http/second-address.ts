import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** A second port of a server. */
export interface SecondAddress {
  /** True if a request came to this port. */
  has(request: IncomingMessage): boolean
  /** Serves the same as `server`. Call it before the server listens. */
  attach(server: FastifyInstance): void
  /** Resolves to the bound port. Throws if it cannot be bound. */
  listen(address: { host: string; port: number }): Promise<number>
}

/**
 * Creates a second port for a server, with the limits of the first. It closes with the server, after running requests.
 */
export function createSecondAddress(): SecondAddress {
  const sockets = new WeakSet<Socket>()
  const door = createServer({ allowHalfOpen: true, noDelay: true })

  function attach(server: FastifyInstance): void {
    let closed: Promise<unknown> = Promise.resolve()
    door.on('connection', (socket) => {
      sockets.add(socket)
      server.server.emit('connection', socket)
    })
    server.addHook('preClose', async () => {
      if (!door.listening) return
      closed = once(door, 'close')
      door.close()
    })
    server.addHook('onClose', async () => {
      server.server.closeIdleConnections()
      await closed
    })
  }

  return {
    attach,
    has: ({ socket }) => sockets.has(socket),
    listen: async (address) => {
      door.listen(address)
      await once(door, 'listening')
      return (door.address() as AddressInfo).port
    },
  }
}
