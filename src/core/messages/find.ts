import type { LookUps } from '../../context.js'
import type { Database } from '../../database/pool.js'
import { batch } from '../../lib/async/batcher.js'
import { findMessagesWithContacts } from '../../storage/messages/messages.js'

const MAX_BATCH = 500

/** Creates the look-up of this process: messages that are looked up at the same moment share one statement. */
export function createMessageLookup(database: Database): LookUps['message'] {
  return batch(
    (lookups: { organizationId: string; id: string }[]) => findMessagesWithContacts(database, lookups),
    MAX_BATCH,
  )
}
