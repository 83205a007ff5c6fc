import type { Context } from '../../../context.js'
import {
  claimInstances,
  countInstancesToRun,
  endHeldInstance,
  type HeldInstance,
  releaseAllInstances,
  releaseInstances,
  renewLeases,
} from '../../../storage/instances/leases.js'
import type { LeasedSession, LeasedSessions } from './leased-sessions.js'
import type { NeededLibrary } from './needed-library.js'

/** Keeps the leases of a process, and takes and gives until it has its share. */
export interface LeaseRounds {
  /** One round. Throws where the database cannot be reached: what is left undone the next one does. */
  tend(): Promise<void>
  /** Writes with the next round, and until it is written, that the instance is not to be connected any more. */
  end(instance: HeldInstance): void
  /** Gives back all that is held; the process runs no linked devices any more. */
  leave(): Promise<void>
}

/** As many are given to other processes in one round. */
const MAX_GIVEN = 4
/** So long a command under way may last when its device is given away. */
export const GRACE_MS = 5_000

export function createLeaseRounds(
  ctx: Context,
  holdings: LeasedSessions,
  library: NeededLibrary,
  { leaseMs, isInstalled }: { leaseMs: number; isInstalled: boolean },
): LeaseRounds {
  const { database, processId } = ctx
  /** Those that will not connect again, where that is yet to be written. */
  const ended = new Map<string, HeldInstance>()

  async function tend(): Promise<void> {
    if (library.isMissing()) return
    if (isInstalled) {
      await endThose()
      await renew()
    }
    if (await library.isReady()) {
      await takeShare()
      holdings.startWaiting()
    } else if (isInstalled && library.isMissing()) {
      await releaseAllInstances(database, processId)
    }
  }

  async function endThose(): Promise<void> {
    for (const [id, { organization_id }] of ended) {
      if (holdings.get(id)) continue
      await database.transaction((transaction) => endHeldInstance(transaction, organization_id, id, processId))
      ended.delete(id)
    }
  }

  async function renew(): Promise<void> {
    const until = performance.now() + leaseMs
    const before = new Set(holdings.all())
    const held = await renewLeases(database, processId, leaseMs)
    const ids = new Set(held.map(({ id }) => id))
    for (const holding of before) if (!ids.has(holding.instance.id)) holdings.close(holding, 0)
    const known = new Set(Array.from(before, ({ instance }) => instance.id))
    const unwanted: HeldInstance[] = []
    for (const instance of held) {
      const holding = holdings.get(instance.id)
      if (holding) extend(holding, instance, until)
      // One that was given back while the leases were renewed may be another process's by now.
      else if (!known.has(instance.id)) {
        if (instance.wanted) hold(instance, until)
        else unwanted.push(instance)
      }
    }
    if (unwanted.length > 0) await releaseInstances(database, unwanted, processId)
  }

  function extend(holding: LeasedSession, instance: HeldInstance, until: number): void {
    Object.assign(holding, { until, instance })
    if (!instance.wanted) giveBack(holding)
  }

  function hold(instance: HeldInstance, until: number): void {
    if (!ended.has(instance.id)) holdings.add(instance, until)
  }

  /** Every process runs as many as the others. */
  async function takeShare(): Promise<void> {
    const { instances, others } = await countInstancesToRun(database, processId)
    const share = Math.ceil(instances / (others + 1))
    const count = holdings.all().length
    if (count < share) {
      const until = performance.now() + leaseMs
      const claimed = await claimInstances(database, processId, leaseMs, share - count)
      for (const instance of claimed) hold(instance, until)
    } else {
      const staying = holdings.all().filter(({ isClosing }) => !isClosing)
      const surplus = Math.min(Math.max(0, staying.length - share), MAX_GIVEN)
      for (const holding of staying.filter(isMovable).slice(0, surplus)) giveBack(holding)
    }
  }

  /** What cannot be written the next rounds see to: it is still held then. */
  function giveBack(holding: LeasedSession): void {
    holdings.close(holding, GRACE_MS, async () => {
      await releaseInstances(database, [holding.instance], processId)
      ctx.notifications.send({ topic: 'instances' })
    })
  }

  return {
    tend,
    end: (instance) => ended.set(instance.id, instance),
    leave: async () => {
      await endThose()
      await releaseAllInstances(database, processId)
      ctx.notifications.send({ topic: 'instances' })
    },
  }
}

/** One that shows a code would show another one elsewhere. */
function isMovable({ session }: LeasedSession): boolean {
  return session?.state() === 'open' && session.isIdle()
}
