import { requireConfig } from './environment.js'
import type { Invocation } from './invocation.js'
import { startService } from './service.js'
import { listenForEndRequest } from './signals.js'

/** `parley serve`: runs the service until it is asked to end (contract 1). */
export async function serve({ env, streams }: Invocation, options: { migrate?: boolean }): Promise<void> {
  const config = requireConfig(env)
  const endRequest = listenForEndRequest()
  const service = await startService(config, { migrate: options.migrate === true }, endRequest)
  try {
    streams.stdout.write(`${readyLine(service.app.url, config.roles)}\n`)
    await service.untilAskedToEnd()
  } finally {
    await service.close()
  }
}

/** What tells that the service takes traffic (contract 1); a process without the API has no address. */
export function readyLine(url: string, roles: readonly string[]): string {
  return url === '' ? `parley ready as ${roles.join(',')}` : `parley ready on ${url}`
}
