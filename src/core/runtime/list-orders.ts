import type { Context } from '../../context.js'
import { createLruCache, type LruCache } from '../../lib/async/lru-cache.js'
import { createSerialQueues } from '../../lib/async/serial-queues.js'
import type { ListOrder, ListOrders } from '../../model/page.js'

/** How many lists a process remembers: of how many organizations, and of each. 100,000 items take 1.6 MB. */
const MAX_ORGANIZATIONS = 10
const MAX_LISTS = 4
const KEPT_MS = 60_000

interface KnownOrder extends ListOrder {
  since: number
}

/** Creates the remembered orders of this process. Requests of the same moment share the reading of a list. */
export function createListOrders({ clock }: Pick<Context, 'clock'>): ListOrders {
  const organizations = createLruCache<LruCache<KnownOrder>>(MAX_ORGANIZATIONS)
  const inTurn = createSerialQueues()

  function listsOf(organizationId: string): LruCache<KnownOrder> {
    const known = organizations.get(organizationId)
    if (known) return known
    const lists = createLruCache<KnownOrder>(MAX_LISTS)
    organizations.set(organizationId, lists)
    return lists
  }

  return {
    find: (organizationId, list, end, read) =>
      inTurn([`${organizationId}/${list}`], async () => {
        const lists = listsOf(organizationId)
        const now = clock().getTime()
        const found = lists.get(list)
        const known = found !== undefined && now - found.since < KEPT_MS ? found : null
        if (known !== null && (known.isWhole || known.ids.length >= end)) return known.ids
        const order = await read(known?.rowsRead ?? 0)
        lists.set(list, { ...order, since: now })
        return order.ids
      }),
  }
}
