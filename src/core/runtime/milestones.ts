import type { Context } from '../../context.js'
import { createLruCache } from '../../lib/async/lru-cache.js'
import {
  FIRST_POSITION,
  type ListPosition,
  MAX_DEPTH,
  MILESTONE_STEP,
  type Milestone,
  type Milestones,
} from '../../model/page.js'

/** How many lists a process remembers milestones of. A million items take some 200 kB. */
const MAX_LISTS = 100
/** How long milestones are kept. Contacts that become active or are erased move the items after them. */
const KEPT_MS = 60_000

/** Creates the milestones of this process. */
export function createMilestones({ clock }: Pick<Context, 'clock'>): Milestones {
  const lists = createLruCache<RememberedList>(MAX_LISTS)
  return {
    find: async (name, skip, readNext) => {
      if (skip <= MAX_DEPTH) return { position: FIRST_POSITION, skip }
      const now = clock().getTime()
      let list = lists.get(name)
      if (list === undefined || now - list.since >= KEPT_MS) {
        list = new RememberedList(now)
        lists.set(name, list)
      }
      return list.find(skip, readNext)
    },
  }
}

type ReadNext = Parameters<Milestones['find']>[2]

/** The milestones of one list, read as far as pages were requested. */
class RememberedList {
  readonly since: number
  readonly #positions: ListPosition[] = []
  #reading: Promise<void> = Promise.resolve()

  constructor(since: number) {
    this.since = since
  }

  async find(skip: number, readNext: ReadNext): Promise<Milestone> {
    const wanted = Math.floor(skip / MILESTONE_STEP)
    if (this.#positions.length < wanted) {
      const reading = this.#reading.then(() => this.#readUpTo(wanted, readNext))
      this.#reading = reading.catch(() => undefined)
      await reading
    }
    const passed = Math.min(wanted, this.#positions.length)
    return { position: this.#positions[passed - 1] ?? FIRST_POSITION, skip: skip - passed * MILESTONE_STEP }
  }

  async #readUpTo(wanted: number, readNext: ReadNext): Promise<void> {
    while (this.#positions.length < wanted) {
      const next = await readNext(this.#positions.at(-1) ?? FIRST_POSITION)
      if (next.length === 0) return
      this.#positions.push(...next)
    }
  }
}
