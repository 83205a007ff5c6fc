import { batchStatement } from '../../../database/batch-statement.js'
import type { Database } from '../../../database/pool.js'
import { sleep } from '../../../lib/async/backoff.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import type { Acceptance, MessageWriter, OutgoingMessage } from '../../../model/messages/outgoing.js'
import { Problem } from '../../../model/problem.js'
import { acceptMessages, recordOutgoingMessages } from '../../../storage/messages/outgoing.js'

/** Maximum wait for a locked row when an acceptance is recorded. After that, a status callback has to record it. */
const ACCEPT_TIMEOUT_MS = 10_000
const LOCKED_RETRY_SECONDS = 2

/**
 * Creates the message writer of this process. Sends of the same moment share one statement. A statement never waits for
 * a locked row, because all its messages would wait; it skips the message, which is retried after a pause. If a shared
 * statement fails, each of its messages is tried alone.
 */
export function createMessageWriter(database: Database): MessageWriter {
  const recordShared = batchStatement((messages: OutgoingMessage[]) => recordOutgoingMessages(database, messages))
  const acceptShared = batchStatement((acceptances: Acceptance[]) => acceptMessages(database, acceptances))
  return {
    record: async (message, leftMs) => {
      for (let attempt = 1; ; attempt++) {
        const recorded = await recordShared(message)
        if (recorded !== 'same_contact' && recorded !== 'locked') return recorded
        if (recorded === 'same_contact') continue
        if (leftMs() === 0) throw lockedTooLong()
        await sleep(pauseMs(attempt))
      }
    },
    accept: async (acceptance) => {
      const leftMs = startCountdown(ACCEPT_TIMEOUT_MS)
      for (let attempt = 1; (await acceptShared(acceptance)) === 'locked'; attempt++) {
        if (leftMs() === 0) throw lockedTooLong()
        await sleep(pauseMs(attempt))
      }
    },
  }
}

/** Most row locks last about a millisecond. */
function pauseMs(attempt: number): number {
  return Math.min(200, 2 ** attempt)
}

function lockedTooLong(): Problem {
  return new Problem('service_unavailable', 'The contact is being changed by another request: try again', {
    retry_after: LOCKED_RETRY_SECONDS,
  })
}
