import type { Environment } from './environment.js'
import { requireConfig } from './environment.js'
import { startService } from './service.js'

/** `parley serve`: runs the service until it is asked to end (contract 1). */
export async function serve(env: Environment, options: { migrate?: boolean }): Promise<void> {
  const service = await startService(requireConfig(env), { migrate: options.migrate === true })
  process.stdout.write(`parley ready on ${service.app.url}\n`)
  try {
    service.log.info(`${await service.untilAskedToEnd()}: finishing what is under way`)
  } finally {
    await service.close()
  }
}
