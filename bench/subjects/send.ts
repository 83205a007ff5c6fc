import { startCollector } from '../collector.js'
import { startFileServer } from '../file-server.js'
import { type LoadShape, runLoad } from '../generator.js'
import { imageLoad, interactiveLoad, type NextRequest, textLoad } from '../loads.js'
import { type Measurement, measureAlternating, type Row } from '../measure.js'
import type { World } from '../world.js'

const IMAGE_BYTES = 1_000_000

/** Measures `POST /send-chat` with the simulator, compared with the minimal work of sending a text. */
export async function measureSend(world: World, seconds: number): Promise<Row[]> {
  const files = await startFileServer()
  const service = await world.startService({ PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8' })
  const baseline = await world.startBaseline('{}')
  const collector = await startCollector()
  const exporting = await world.startService({ PARLEY_OTLP_URL: collector.url, PARLEY_TRACE_SAMPLING: '0.01' })
  const bare = (id: string, connections: number): Measurement => ({
    id,
    connections,
    title: 'bare Fastify, one insert + one upstream call',
    pid: baseline.pid,
    run: (shape: LoadShape) => runLoad(baseline.url, shape, textLoad(world)),
  })
  const send = (id: string, connections: number, kind: string, load: NextRequest): Measurement => ({
    id,
    connections,
    title: `POST /send-chat, ${kind}`,
    pid: service.pid,
    run: (shape: LoadShape) => runLoad(service.url, shape, load),
  })
  const traced: Measurement = {
    ...send('send.traced', 32, 'text, 1 % of the traces exported', textLoad(world)),
    pid: exporting.pid,
    run: (shape) => runLoad(exporting.url, shape, textLoad(world)),
  }
  const image = imageLoad(world, files.urlOf('jpg', IMAGE_BYTES))
  const rows = await measureAlternating(world, seconds, [
    // First, so that both processes are equally new: one that has run for a minute is a third faster.
    [send('send.untraced', 32, 'text', textLoad(world)), traced],
    [bare('send.bare', 32), send('send', 32, 'text', textLoad(world))],
    [bare('send.bare.128', 128), send('send.128', 128, 'text', textLoad(world))],
    [bare('send.bare.1', 1), send('send.1', 1, 'text', textLoad(world))],
    [bare('send.bare.interactive', 32), send('send.interactive', 32, 'interactive', interactiveLoad(world))],
    [bare('send.bare.image', 8), send('send.image', 8, 'image of 1 MB', image)],
  ])
  await service.stop()
  await exporting.stop()
  await baseline.stop()
  await files.close()
  await collector.close()
  return rows
}
