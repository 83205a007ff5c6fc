import { until } from './until.js'
import { call, type Organization } from './world.js'

/** A created instance of the gateway. */
export interface BenchInstance {
  id: string
  name: string
  /** Gives access to this instance only. */
  token: string
}

/** The service that instances are created in, the simulator behind it, and their organization. */
export interface GatewayHost {
  url: string
  sandboxUrl: string
  organization: Organization
}

const POLLING = { pollMs: 20, timeoutMs: 60_000 }

/** Creates an instance. */
export async function makeInstance(
  { url, organization }: GatewayHost,
  name: string,
  integration: 'SANDBOX' | 'WHATSAPP-BUSINESS',
): Promise<BenchInstance> {
  const body = { instanceName: name, integration }
  const { instance, hash } = await call('POST', `${url}/gateway/instance/create`, body, organization.key)
  return { id: instance.instanceId, name, token: hash }
}

/** Creates a simulated phone as a person would: shows its code, scans it, and waits until it is open. */
export async function makeOpenSandbox(host: GatewayHost, name: string): Promise<BenchInstance> {
  const { url, sandboxUrl, organization } = host
  const instance = await makeInstance(host, name, 'SANDBOX')
  await call('GET', `${url}/gateway/instance/connect/${name}`, null, organization.key)
  await call('POST', `${sandboxUrl}/_sim/scan`, { organization_id: organization.id, instance: name })
  await until(async () => (await stateOf(host, name)) === 'open', { what: `${name} is not open`, ...POLLING })
  return instance
}

/** The state of an instance, in the gateway's words. */
export async function stateOf({ url, organization }: GatewayHost, name: string): Promise<string> {
  const { instance } = await call('GET', `${url}/gateway/instance/connectionState/${name}`, null, organization.key)
  return instance.state
}
