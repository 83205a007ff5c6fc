import { expect } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import type { FileServer } from './file-server.js'
import { type AcceptedMessage, type Answer, type Service, succeed } from './service.js'
import { type Conversation, type HeldSend, hasFile, shownReaction } from './step-sends.js'
import type { Fate } from './steps.js'
import { readConversation } from './traffic.js'

/** What stands here, to be held against the upstream's record. */
export interface Evidence {
  service: Service
  database: Database
  files: FileServer
  /** Everything that the upstream ever accepted. */
  record: readonly AcceptedMessage[]
}

/** How a send shows when everything has come to rest. `settled`: by its statuses; `sent`: by its answer alone. */
export type Standing = 'absent' | 'unknown' | 'sent' | 'settled'

/** What is to become of a send that died with this fate, when the client of a keyed one has asked again. */
export function standingOf({ key }: HeldSend, fate: Fate, tellsStatuses: boolean): Standing {
  if (fate === 'nothing' && key === null) return 'absent'
  if (fate === 'recorded') return 'unknown'
  if (tellsStatuses) return 'settled'
  return fate === 'accepted' ? 'unknown' : 'sent'
}

/** No id was sent twice, to whomever. */
export function expectNothingTwice(record: readonly AcceptedMessage[]): void {
  const ids = record.map(({ payload }) => payload.biz_opaque_callback_data)
  expect(ids.filter((id) => !/^[0-9a-f-]{36}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(record.length)
}

/** Of each send the upstream and we have exactly as much as there is to be, and what we have shows how it stands. */
export async function expectSends(
  evidence: Evidence,
  sends: readonly HeldSend[],
  fate: Fate,
  tellsStatuses: boolean,
): Promise<void> {
  for (const send of sends) {
    const standing = standingOf(send, fate, tellsStatuses)
    const found = await findMessages(evidence, send)
    const accepted = acceptancesOf(evidence.record, send)
    expect({ send, accepted: accepted.length }).toEqual({ send, accepted: standing === 'absent' || fate === 'recorded' ? 0 : 1 })
    expect({ send, found: found.length }).toEqual({ send, found: standing === 'absent' ? 0 : 1 })
    const [message] = found
    if (message) expect({ send, message }).toMatchObject({ send, message: shapeOf(send, standing, accepted[0]) })
  }
}

/** The conversations are what the upstream accepted of them and what it never heard of, each once, without a gap. */
export async function expectConversations(
  evidence: Evidence,
  conversations: readonly Conversation[],
  pageSize: number,
): Promise<void> {
  for (const conversation of conversations) await expectConversation(evidence, conversation, pageSize)
}
