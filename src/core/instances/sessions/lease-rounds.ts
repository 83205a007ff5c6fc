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
import type { LeasedSession, LeasedSessions } from './leased-sessions.js'
import type { NeededLibrary } from './needed-library.js'

/** Renews the leases of a process, and claims and releases instances until it has its share. */
export interface LeaseRounds {
  /** Runs one round. Throws if the database cannot be reached; the next round does the rest. */
  reconcile(): Promise<void>
  /** Has the next rounds record that the instance ended and must not be connected again. */
  markEnded(instance: LeasedInstance): void
  /** Releases all instances at shutdown. */
  releaseAll(): Promise<void>
}

/** Maximum number of instances released per round. */
const MAX_RELEASED = 4
/** How long running commands may take before their device is released. */
export const GRACE_MS = 5_000

export function createLeaseRounds(
  ctx: BaseContext,
  leasedSessions: LeasedSessions,
  library: NeededLibrary,
  { leaseMs, isInstalled }: { leaseMs: number; isInstalled: boolean },
): LeaseRounds {
  const { database, processId } = ctx
  /** Ended instances that are yet to be recorded. */
  const ended = new Map<string, LeasedInstance>()

  async function reconcile(): Promise<void> {
    if (library.isMissing()) return
    if (isInstalled) {
      await writeEnded()
      await renew()
    }
    if (await library.isReady()) {
      await balance()
      leasedSessions.startWaiting()
    } else if (isInstalled && library.isMissing()) {
      await releaseAllInstances(database, processId)
    }
  }

  async function writeEnded(): Promise<void> {
    for (const [id, { organization_id }] of ended) {
      if (leasedSessions.get(id)) continue
      await database.transaction((transaction) => endLeasedInstance(transaction, organization_id, id, processId))
      ended.delete(id)
    }
  }

  async function renew(): Promise<void> {
    const until = performance.now() + leaseMs
    const before = new Set(leasedSessions.all())
    const held = await renewLeases(database, processId, leaseMs)
    const ids = new Set(held.map(({ id }) => id))
    for (const leased of before) if (!ids.has(leased.instance.id)) leasedSessions.close(leased, 0)
    const known = new Set(Array.from(before, ({ instance }) => instance.id))
    const unwanted: LeasedInstance[] = []
    for (const instance of held) {
      const leased = leasedSessions.get(instance.id)
      if (leased) extend(leased, instance, until)
      // An instance released during the renewal may belong to another process by now.
      else if (!known.has(instance.id)) {
        if (instance.wanted) addUnlessEnded(instance, until)
        else unwanted.push(instance)
      }
    }
    if (unwanted.length > 0) await releaseInstances(database, unwanted, processId)
  }

  function extend(leased: LeasedSession, instance: LeasedInstance, until: number): void {
    Object.assign(leased, { until, instance })
    if (!instance.wanted) release(leased)
  }

  function addUnlessEnded(instance: LeasedInstance, until: number): void {
    if (!ended.has(instance.id)) leasedSessions.add(instance, until)
  }

  /** Every process runs about the same number. */
  async function balance(): Promise<void> {
    const { instances, others } = await countInstancesToRun(database, processId)
    const share = Math.ceil(instances / (others + 1))
    const count = leasedSessions.all().length
    if (count < share) {
      const until = performance.now() + leaseMs
      const claimed = await claimInstances(database, processId, leaseMs, share - count)
      for (const instance of claimed) addUnlessEnded(instance, until)
    } else {
      const staying = leasedSessions.all().filter(({ isClosing }) => !isClosing)
      const surplus = Math.min(Math.max(0, staying.length - share), MAX_RELEASED)
      for (const leased of staying.filter(isMovable).slice(0, surplus)) release(leased)
    }
  }

  /** If this fails, the lease is still held and the next rounds try again. */
  function release(leased: LeasedSession): void {
    leasedSessions.close(leased, GRACE_MS, async () => {
      await releaseInstances(database, [leased.instance], processId)
      ctx.notifications.send({ topic: 'instances' })
    })
  }

  return {
    reconcile,
    markEnded: (instance) => ended.set(instance.id, instance),
    releaseAll: async () => {
      await writeEnded()
      await releaseAllInstances(database, processId)
      ctx.notifications.send({ topic: 'instances' })
    },
  }
}

/** A device that shows a code would show a different one elsewhere. */
function isMovable({ session }: LeasedSession): boolean {
  return session?.state() === 'open' && session.isIdle()
}
