import { isDatabaseUnavailable } from '../../database/errors.js'
import type { Database } from '../../database/pool.js'
import { coalesce } from '../../lib/coalesce.js'
import type { Acceptance, Outbox, OutgoingMessage } from '../../model/outgoing-message.js'
import {
  acceptMessage,
  acceptMessages,
  recordOutgoingMessage,
  recordOutgoingMessages,
} from '../../storage/outgoing-messages.js'
import { createLimit } from './limit.js'

const MAX_BATCH = 100
/** Those who wait for a row hold a connection each; the rest of the process needs the others. Of each kind so many. */
const MAX_ALONE = 4

/**
 * Makes the outbox of a process. The sends of the same moment share a statement, so a busy process makes few of them. A
 * shared statement waits for nobody and stands or falls as a whole: what it passes over, because somebody holds the row, and
 * all of one that fell, is written down one by one, so that no send suffers from another's.
 */
export function createOutbox(database: Database): Outbox {
  const recordShared = coalesce(
    (messages: OutgoingMessage[]) => orNone(messages, () => recordOutgoingMessages(database, messages)),
    MAX_BATCH,
  )
  const acceptShared = coalesce(
    (acceptances: Acceptance[]) => orNone(acceptances, () => acceptMessages(database, acceptances)),
    MAX_BATCH,
  )
  const recordAlone = createLimit(MAX_ALONE)
  const acceptAlone = createLimit(MAX_ALONE)
  return {
    record: async (message) => {
      for (;;) {
        const recorded = await recordShared(message)
        if (recorded === null || recorded === 'held') return recordAlone(() => recordOutgoingMessage(database, message))
        if (recorded !== 'crowded') return recorded
      }
    },
    accept: async (acceptance) => {
      if ((await acceptShared(acceptance)) !== true) await acceptAlone(() => acceptMessage(database, acceptance))
    },
  }
}

/** Null for each item when the statement fell: the items' own statements will tell whose fault it was. */
async function orNone<Item, Result>(items: Item[], run: () => Promise<Result[]>): Promise<(Result | null)[]> {
  try {
    return await run()
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    return items.map(() => null)
  }
}
