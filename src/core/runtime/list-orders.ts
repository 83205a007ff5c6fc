import type { Context } from '../../context.js'
import { createLruCache } from '../../lib/async/lru-cache.js'
import { createSerialQueues } from '../../lib/async/serial-queues.js'
import type { ListOrder, ListOrders } from '../../model/page.js'

/** How many lists a process remembers. 100,000 items take 1.6 MB. */
const MAX_LISTS = 20
const KEPT_MS = 60_000

/** Creates the remembered orders of this process. Requests of the same moment share the reading of a list. */
export function createListOrders({ clock }: Pick<Context, 'clock'>): ListOrders {
  const lists = createLruCache<ListOrder & { since: number }>(MAX_LISTS)
  const inTurn = createSerialQueues()
  return {
    find: (name, end, read) =>
      inTurn([name], async () => {
        const now = clock().getTime()
        const found = lists.get(name)
        const known = found !== undefined && now - found.since < KEPT_MS ? found : null
        if (known !== null && (known.isWhole || known.ids.length >= end)) return known.ids
        const order = await read(known?.rowsRead ?? 0)
        lists.set(name, { ...order, since: now })
        return order.ids
      }),
  }
}
