import type { BaseContext } from '../../../context.js'
import {
  claimInstances,
  countInstancesToRun,
  endLeasedInstance,
  type LeasedInstance,
  releaseAllInstances,
  releaseInstances,
  renewLeases,
} from '../../../storage/instances/leases.js'
import type { NeededLibrary } from '../library/needed-library.js'
import type { LeasedSession, LeasedSessions } from './leased-sessions.js'

/** Maximum number of instances released per round. */
const MAX_RELEASED = 4
/** How long running commands may take before their device is released. */
export const GRACE_MS = 5_000

/** Renews the leases of a process, and claims and releases instances until it has its share. */
export class LeaseRounds {
  readonly #ctx: BaseContext
  readonly #leasedSessions: LeasedSessions
  readonly #library: NeededLibrary
  readonly #leaseMs: number
  readonly #isInstalled: boolean
  /** Ended instances that are yet to be recorded. */
  readonly #ended = new Map<string, LeasedInstance>()

  constructor(
    ctx: BaseContext,
    leasedSessions: LeasedSessions,
    library: NeededLibrary,
    { leaseMs, isInstalled }: { leaseMs: number; isInstalled: boolean },
  ) {
    this.#ctx = ctx
    this.#leasedSessions = leasedSessions
    this.#library = library
    this.#leaseMs = leaseMs
    this.#isInstalled = isInstalled
  }

  /** Runs one round. Throws if the database cannot be reached; the next round does the rest. */
  async reconcile(): Promise<void> {
    const { database, processId } = this.#ctx
    if (this.#library.isMissing()) return
    if (this.#isInstalled) {
      await this.#writeEnded()
      await this.#renew()
    }
    if (await this.#library.isReady()) {
      await this.#balance()
      this.#leasedSessions.startWaiting()
    } else if (this.#isInstalled && this.#library.isMissing()) {
      await releaseAllInstances(database, processId)
    }
  }

  /** Has the next rounds record that the instance ended and must not be connected again. */
  markEnded(instance: LeasedInstance): void {
    this.#ended.set(instance.id, instance)
  }

  /** Releases all instances at shutdown. */
  async releaseAll(): Promise<void> {
    const { database, processId, notifications } = this.#ctx
    await this.#writeEnded()
    await releaseAllInstances(database, processId)
    notifications.send({ topic: 'instances' })
  }

  async #writeEnded(): Promise<void> {
    const { database, processId } = this.#ctx
    for (const [id, { organization_id }] of this.#ended) {
      if (this.#leasedSessions.get(id)) continue
      await database.transaction((transaction) => endLeasedInstance(transaction, organization_id, id, processId))
      this.#ended.delete(id)
    }
  }

  async #renew(): Promise<void> {
    const { database, processId } = this.#ctx
    const until = performance.now() + this.#leaseMs
    const before = new Set(this.#leasedSessions.all())
    const held = await renewLeases(database, processId, this.#leaseMs)
    const ids = new Set(held.map(({ id }) => id))
    for (const leased of before) if (!ids.has(leased.instance.id)) this.#leasedSessions.close(leased, 0)
    const known = new Set(Array.from(before, ({ instance }) => instance.id))
    const unwanted: LeasedInstance[] = []
    for (const instance of held) {
      const leased = this.#leasedSessions.get(instance.id)
      if (leased) this.#extend(leased, instance, until)
      // An instance released during the renewal may belong to another process by now.
      else if (!known.has(instance.id)) {
        if (instance.wanted) this.#addUnlessEnded(instance, until)
        else unwanted.push(instance)
      }
    }
    if (unwanted.length > 0) await releaseInstances(database, unwanted, processId)
  }

  #extend(leased: LeasedSession, instance: LeasedInstance, until: number): void {
    Object.assign(leased, { until, instance })
    if (!instance.wanted) this.#release(leased)
  }

  #addUnlessEnded(instance: LeasedInstance, until: number): void {
    if (!this.#ended.has(instance.id)) this.#leasedSessions.add(instance, until)
  }

  /** Every process runs about the same number. */
  async #balance(): Promise<void> {
    const { database, processId } = this.#ctx
    const { instances, others } = await countInstancesToRun(database, processId)
    const share = Math.ceil(instances / (others + 1))
    const count = this.#leasedSessions.all().length
    if (count < share) {
      const until = performance.now() + this.#leaseMs
      const claimed = await claimInstances(database, processId, this.#leaseMs, share - count)
      for (const instance of claimed) this.#addUnlessEnded(instance, until)
    } else {
      const staying = this.#leasedSessions.all().filter(({ isClosing }) => !isClosing)
      const surplus = Math.min(Math.max(0, staying.length - share), MAX_RELEASED)
      for (const leased of staying.filter(isMovable).slice(0, surplus)) this.#release(leased)
    }
  }

  /** If this fails, the lease is still held and the next rounds try again. */
  #release(leased: LeasedSession): void {
    const { database, processId, notifications } = this.#ctx
    this.#leasedSessions.close(leased, GRACE_MS, async () => {
      await releaseInstances(database, [leased.instance], processId)
      notifications.send({ topic: 'instances' })
    })
  }
}

/** A device that shows a code would show a different one elsewhere. */
function isMovable({ session }: LeasedSession): boolean {
  return session?.state() === 'open' && session.isIdle()
}
