import type { Context } from '../../context.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import {
  eraseCallbacksNaming,
  eraseContactDeliveries,
  eraseContactEvents,
  eraseParticipation,
} from '../../storage/contacts/erasure.js'
import { forgetDeviceKeys } from '../../storage/instances/device-sessions.js'

/** The traces of an erased contact, and how far they are erased; the payload of a job. */
export interface Traces {
  contactId: string
  addresses: readonly string[]
  /** Where the walk through the organization's rows continues; absent: at the beginning. */
  position?: Position
}

interface Position {
  table: Table
  /** The key of the last row of the table that was looked at. */
  after: string
  /** Whether callbacks that are not processed yet were passed over. */
  isWaiting: boolean
}

/** In this order; callbacks last, because they take longest. */
const TABLES = ['events', 'deliveries', 'contacts', 'callbacks'] as const
type Table = (typeof TABLES)[number]
/** Before the first row. */
const START = {
  events: '0',
  deliveries: NIL_UUID,
  contacts: NIL_UUID,
  callbacks: NIL_UUID,
} as const satisfies Record<Table, string>
/** When to try again what was not processed. */
const AGAIN_MS = 60_000

/**
 * Erases for a while what an erased contact left in keys of linked devices, events, participants of groups and raw
 * callbacks, and ends its deliveries. Returns when the job continues; null: nothing is left.
 */
export async function eraseTraces(ctx: Context, organizationId: string, traces: Traces): Promise<Again | null> {
  const leftMs = startCountdown(SLICE_MS)
  if (!traces.position) await forgetDeviceKeys(ctx.database, organizationId, traces.addresses)
  let position = traces.position ?? startOf('events')
  do {
    const { reached, isWaiting } = await eraseSlice(ctx, organizationId, traces, position)
    const table = reached === null ? TABLES[TABLES.indexOf(position.table) + 1] : position.table
    if (table === undefined)
      return isWaiting ? { againInMs: AGAIN_MS, payload: { ...traces, position: startOf('callbacks') } } : null
    position = { table, after: reached ?? START[table], isWaiting }
  } while (leftMs() > 0)
  return { againInMs: 0, payload: { ...traces, position } }
}

function startOf(table: Table): Position {
  return { table, after: START[table], isWaiting: false }
}

/** `reached`: null at the end of the table. */
async function eraseSlice(
  { database, notifications }: Context,
  organizationId: string,
  { contactId, addresses }: Traces,
  { table, after, isWaiting }: Position,
): Promise<{ reached: string | null; isWaiting: boolean }> {
  switch (table) {
    case 'events': {
      const reached = await eraseContactEvents(database, organizationId, contactId, after)
      // Deliveries about to be made are in memory.
      if (reached === null) notifications.send({ topic: 'webhooks', organizationId })
      return { reached, isWaiting }
    }
    case 'deliveries':
      return { reached: await eraseContactDeliveries(database, organizationId, contactId, after), isWaiting }
    case 'contacts':
      return { reached: await eraseParticipation(database, organizationId, addresses, after), isWaiting }
    case 'callbacks': {
      const slice = await eraseCallbacksNaming(database, organizationId, addresses, after)
      return { reached: slice.reached, isWaiting: isWaiting || slice.isWaiting }
    }
  }
}
