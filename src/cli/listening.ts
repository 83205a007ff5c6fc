import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/settings.js'
import { CliFailure } from './failure.js'

/** Checks early that every port of the service is free. Throws a CliFailure with code 2. */
export async function requireFreePort(config: Config): Promise<void> {
  const { host, port, gatewayPort, roles } = config
  await probe(port)
  if (gatewayPort !== undefined && roles.includes('api')) await probe(gatewayPort)

  async function probe(wanted: number): Promise<void> {
    const server = createServer()
    try {
      server.listen({ host, port: wanted })
      await once(server, 'listening')
    } catch (error) {
      throw explainListenError(error, config)
    } finally {
      server.close()
    }
  }
}

/** Converts a failure to listen to a CliFailure with code 2; other errors are returned as they are. */
export function explainListenError(error: unknown, { host, port: ownPort, gatewayPort }: Config): unknown {
  const { code, syscall, port = ownPort } = error as { code?: unknown; syscall?: unknown; port?: number }
  const name = port === gatewayPort && port !== ownPort ? 'PARLEY_GATEWAY_PORT' : 'PARLEY_PORT'
  if (code === 'EADDRINUSE') {
    return new CliFailure(2, `${name}=${port}: the port is taken on ${host}: choose another one, or 0 for any free one`)
  }
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') {
    return new CliFailure(2, `PARLEY_HOST=${host}, ${name}=${port}: cannot listen there (${code})`)
  }
  return error
}

/** For a service that listens on every address, this machine's own. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:').replace('//:::', '//[::1]:')
}
