import { type LoadShape, runLoad } from '../generator.js'
import { sendLoad } from '../loads.js'
import { measureInTurns, type Row } from '../measure.js'
import type { World } from '../world.js'

/** `POST /send-chat` against the simulator, beside the least that a send has to do. */
export async function measureSend(world: World, seconds: number): Promise<Row[]> {
  const service = await world.startService()
  const baseline = await world.startBaseline('{}')
  const load = sendLoad(world)
  const bareSend = {
    title: 'bare Fastify, one insert + one upstream call',
    pid: baseline.pid,
    run: (shape: LoadShape) => runLoad(baseline.url, shape, load),
  }
  const send = {
    title: 'POST /send-chat, text',
    pid: service.pid,
    run: (shape: LoadShape) => runLoad(service.url, shape, load),
  }
  const rows = await measureInTurns(world, seconds, [
    [
      { ...bareSend, id: 'send.bare', connections: 32 },
      { ...send, id: 'send', connections: 32 },
    ],
    [
      { ...bareSend, id: 'send.bare.1', connections: 1 },
      { ...send, id: 'send.1', connections: 1 },
    ],
  ])
  await service.stop()
  await baseline.stop()
  return rows
}
