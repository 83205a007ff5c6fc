import type { Database } from '../../../database/pool.js'
import { batchStatement } from '../../../database/share.js'
import { sleep } from '../../../lib/async/backoff.js'
import type { Acceptance, MessageWriter, OutgoingMessage } from '../../../model/messages/outgoing.js'
import { Problem } from '../../../model/problem.js'
import { acceptMessages, recordOutgoingMessages } from '../../../storage/messages/outgoing.js'

/** How long the news of an acceptance waits for a row; afterwards a status callback has to bring it. */
const ACCEPT_TIMEOUT_MS = 10_000
const LOCKED_RETRY_SECONDS = 2

/**
 * Makes the outbox of a process. The sends of the same moment share a statement, so a busy process makes few of them. No
 * statement waits for a row that somebody holds, for others would wait with it: what it passes over tries again after a
 * pause. A shared one stands or falls as a whole: of one that fell, each part is tried by itself.
 */
export function createMessageWriter(database: Database): MessageWriter {
  const recordShared = batchStatement((messages: OutgoingMessage[]) => recordOutgoingMessages(database, messages))
  const acceptShared = batchStatement((acceptances: Acceptance[]) => acceptMessages(database, acceptances))
  return {
    record: async (message, until) => {
      for (let attempt = 1; ; attempt++) {
        const recorded = await recordShared(message)
        if (recorded !== 'crowded' && recorded !== 'held') return recorded
        if (recorded === 'crowded') continue
        if (Date.now() >= until) throw lockedTooLong()
        await sleep(pauseMs(attempt))
      }
    },
    accept: async (acceptance) => {
      const until = Date.now() + ACCEPT_TIMEOUT_MS
      for (let attempt = 1; (await acceptShared(acceptance)) === 'held'; attempt++) {
        if (Date.now() >= until) throw lockedTooLong()
        await sleep(pauseMs(attempt))
      }
    },
  }
}

/** Who holds a row mostly lets go of it in a millisecond. */
function pauseMs(attempt: number): number {
  return Math.min(200, 2 ** attempt)
}

function lockedTooLong(): Problem {
  return new Problem('service_unavailable', 'The contact is being changed by somebody else at the moment: try again', {
    retry_after: LOCKED_RETRY_SECONDS,
  })
}
