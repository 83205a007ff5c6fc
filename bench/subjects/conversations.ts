import { runLoad } from '../generator.js'
import { conversationLoad } from '../loads.js'
import { type Measurement, measureAlternating, type Row } from '../measure.js'
import type { World } from '../world.js'

/** Measures `GET /conversations`: the first page of the longest conversation compared with its 1,000th. */
export async function measureConversations(world: World, seconds: number): Promise<Row[]> {
  const service = await world.startService()
  const page = (id: string, number: number, connections: number): Measurement => ({
    id,
    title: `GET /conversations, page ${number.toLocaleString('en')}`,
    pid: service.pid,
    connections,
    run: (shape) => runLoad(service.url, shape, conversationLoad(world, number)),
  })
  const rows = await measureAlternating(world, seconds, [
    [page('conversations.first', 1, 32), page('conversations.far', 1_000, 32)],
    [page('conversations.first.1', 1, 1), page('conversations.far.1', 1_000, 1)],
  ])
  await service.stop()
  return rows
}
