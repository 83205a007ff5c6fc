import { setTimeout } from 'node:timers/promises'
import type { Child } from '../child.js'
import { type BenchInstance, type GatewayHost, makeInstance, makeOpenSandbox, stateOf } from '../gateway-instances.js'
import { connectionStateLoad, gatewayNewContactLoad, gatewayTextLoad } from '../gateway-loads.js'
import { measureGatewayReading } from '../gateway-reading.js'
import { runLoad } from '../generator.js'
import { contactLoad, type NextRequest, textLoad } from '../loads.js'
import { type Measurement, measureAlternating, type Row } from '../measure.js'
import { memoryOf } from '../processes.js'
import type { Run } from '../server.js'
import { startWorld, type World } from '../world.js'

/** The costs of the gateway, compared with Interface A and with the minimal work. */
export interface GatewayCosts {
  reading: Row[]
  states: Row[]
  sends: Row[]
  memory: InstanceMemory
}

/** RSS in MB of 1,000,000 bytes of a service without traffic. */
export interface InstanceMemory {
  /** The number of instances connected between one value and the next. */
  instances: number
  /** With one instance; with `instances` more, each connected and asked for its state; with as many again. */
  oneMb: number
  firstMb: number
  secondMb: number
}

const STATE_CONNECTIONS = [1, 32]
const SEND_CONNECTIONS = [1, 32, 128]
const INSTANCES = 100
const IDLE_MS = 10_000

/** Measures the gateway; loads that only read come first. */
export async function measureGateway(run: Run, seconds: number): Promise<GatewayCosts> {
  const reading = await measureGatewayReading(run, seconds)
  const world = await startWorld(run)
  const service = await world.startService()
  const baseline = await world.startBaseline('{}')
  const place = { ...world, url: service.url }
  const sandbox = await makeOpenSandbox(place, 'sandbox')
  const business = await makeInstance(place, 'business', 'WHATSAPP-BUSINESS')
  const states = await measureAlternating(world, seconds, stateGroups(world, service, baseline, sandbox))
  const sends = await measureAlternating(world, seconds, sendGroups(world, service, baseline, { sandbox, business }))
  await baseline.stop()
  await service.stop()
  return { reading, states, sends, memory: await measureMemory(world) }
}

type Group = [Measurement, ...Measurement[]]

function stateGroups(world: World, service: Child, baseline: Child, sandbox: BenchInstance): Group[] {
  const { key } = world.organization
  return STATE_CONNECTIONS.map((connections) => {
    const load = loadWith(connections)
    return [
      load('contact', 'GET /contact', service, contactLoad(world)),
      load('bare-statement', 'bare Fastify with one named statement', baseline, contactLoad(world)),
      load('state', 'GET connectionState', service, connectionStateLoad(key, sandbox)),
      load(
        'state-token',
        "GET connectionState, the instance's token",
        service,
        connectionStateLoad(sandbox.token, sandbox),
      ),
    ]
  })
}

function sendGroups(
  world: World,
  service: Child,
  baseline: Child,
  { sandbox, business }: Record<'sandbox' | 'business', BenchInstance>,
): Group[] {
  const { key } = world.organization
  return SEND_CONNECTIONS.map((connections) => {
    const load = loadWith(connections)
    return [
      load('send', 'POST /send-chat, text', service, textLoad(world)),
      load('bare-send', 'bare Fastify, one insert + one upstream call', baseline, textLoad(world)),
      load('sandbox', 'POST sendText, SANDBOX', service, gatewayTextLoad(key, sandbox)),
      load('business', 'POST sendText, WHATSAPP-BUSINESS', service, gatewayTextLoad(key, business)),
      load('new-numbers', 'POST sendText, SANDBOX, to new numbers', service, gatewayNewContactLoad(key, sandbox)),
    ]
  })
}

function loadWith(connections: number) {
  return (id: string, title: string, { pid, url }: Child, next: NextRequest): Measurement => ({
    id: `${id}.${connections}`,
    title,
    pid,
    connections,
    run: (shape) => runLoad(url, shape, next),
  })
}

/** The second hundred separates the memory of the instances from that of code that ran for the first time. */
async function measureMemory(world: World): Promise<InstanceMemory> {
  const service = await world.startService()
  const place = { ...world, url: service.url }
  await connectMany(place, 'one', 1)
  const oneMb = await idleMemory(service)
  await connectMany(place, 'first', INSTANCES)
  const firstMb = await idleMemory(service)
  await connectMany(place, 'second', INSTANCES)
  const secondMb = await idleMemory(service)
  await service.stop()
  return { instances: INSTANCES, oneMb, firstMb, secondMb }
}

async function connectMany(host: GatewayHost, name: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `${name}-${index}`)
  for (const one of names) await makeOpenSandbox(host, one)
  for (const one of names) await stateOf(host, one)
}

async function idleMemory({ pid }: Child): Promise<number> {
  await setTimeout(IDLE_MS)
  return memoryOf(pid)
}
