import { useState } from 'react'
import type { ThreadMessage } from '../../../../../src/model/conversations/inbox.js'

/** What was begun to be written to a contact. */
export interface Draft {
  text: string
  /** Of a note for the team, which is kept apart from what the contact is to read. */
  note: string
  isNote: boolean
  replyTo: ThreadMessage | null
}

const EMPTY: Draft = { text: '', note: '', isNote: false, replyTo: null }

// Kept while the page is open, whatever contact is looked at.
const drafts = new Map<string, Draft>()

/** The contact's draft, and how to change it. */
export function useDraft(contactId: string): [Draft, (change: Partial<Draft>) => void] {
  const [draft, setDraft] = useState(() => drafts.get(contactId) ?? EMPTY)
  // Also where the conversation has been left meanwhile: what comes back is found there then.
  const change = (changes: Partial<Draft>) => {
    const after = { ...(drafts.get(contactId) ?? EMPTY), ...changes }
    drafts.set(contactId, after)
    setDraft(after)
  }
  return [draft, change]
}
