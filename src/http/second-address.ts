import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Another port at which a server answers. */
export interface SecondAddress {
  /** Whether a request has come there. */
  has(request: IncomingMessage): boolean
  /** Serves there what `server` serves. To be called before the server listens. */
  attach(server: FastifyInstance): void
  /** Resolves to the port that was bound. Throws what makes it impossible. */
  listen(address: { host: string; port: number }): Promise<number>
}

/** Lets a server answer at a second port, under the limits of the first. It ends with the server, requests under way first. */
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
