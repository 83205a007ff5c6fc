import { startSimulator } from '../../../simulator/index.js'
import { CliFailure } from '../failure.js'
import type { Invocation } from '../invocation.js'
import { endingInOrder } from '../signals.js'

/** The options of `parley sandbox`. */
export interface SandboxOptions {
  host: string
  port: string
  limits?: boolean
  strict?: boolean
  public?: boolean
}

/** `parley sandbox`: runs the simulator as a separate program. */
export async function sandbox(
  { streams }: Invocation,
  { host, port, limits, strict, public: isPublic }: SandboxOptions,
): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CliFailure(2, `--port ${port}: expected a port number from 0 (any free one) to 65535`)
  }
  const flags = { limits: limits === true, strict: strict === true, public: isPublic === true }
  const options = { host, port: Number(port), ...flags }
  await endingInOrder(async ({ asked }) => {
    const simulator = await startSimulator(options).catch((error: Error) => {
      throw new CliFailure(2, `The sandbox cannot listen on ${host}:${port}: ${error.message}`)
    })
    streams.stdout.write(`parley sandbox ready on ${simulator.url}\n`)
    await asked
    await simulator.close()
  })
}
