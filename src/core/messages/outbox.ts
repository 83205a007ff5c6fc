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

const MAX_BATCH = 100

/**
 * Makes the outbox of a process. The sends of the same moment share a statement, so a busy process makes few of them. A
 * shared statement waits for nobody and stands or falls as a whole: what it passes over,
 * and all of one that fell, is written down one by one, so that no send suffers from another's.
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
  return {
    record: async (message) => {
      const recorded = await recordShared(message)
      return recorded === null || recorded === 'again' ? recordOutgoingMessage(database, message) : recorded
    },
    accept: async (acceptance) => {
      if ((await acceptShared(acceptance)) !== true) await acceptMessage(database, acceptance)
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
