import type { Config } from '../../config/settings.js'
import { requireConfig } from '../environment.js'
import type { Invocation, Streams } from '../invocation.js'
import { startService } from '../service.js'
import { type EndRequest, endingInOrder } from '../signals.js'
import { dropUpSettings } from '../up-settings.js'

/** `parley serve`: runs the service until it is asked to end. */
export async function serve({ env, streams }: Invocation, { migrate = false }: { migrate?: boolean }): Promise<void> {
  const config = requireConfig(env)
  await endingInOrder((endRequest) => run(config, migrate, streams, endRequest))
}

async function run(config: Config, migrate: boolean, { stdout }: Streams, endRequest: EndRequest): Promise<void> {
  const service = await startService(config, { migrate }, endRequest)
  try {
    await dropUpSettings(config)
    stdout.write(`${readyLine(service.app.url)}\n`)
    await service.untilAskedToEnd()
    await service.app.drain()
  } finally {
    await service.close()
  }
}

/** The line that says that the service takes traffic or, without the role api, that its probes answer. */
export function readyLine(url: string): string {
  return `parley ready on ${url}`
}
