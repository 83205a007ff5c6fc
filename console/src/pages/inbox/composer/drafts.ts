import { useState } from 'react'
import type { ThreadMessage } from '../../../../../src/model/conversations/inbox.js'

/** Unsent text of a conversation. */
export interface Draft {
  text: string
  /** Text of a note, kept separately from the message. */
  note: string
  isNote: boolean
  replyTo: ThreadMessage | null
}

const EMPTY: Draft = { text: '', note: '', isNote: false, replyTo: null }

// Kept while the page is open.
const drafts = new Map<string, Draft>()

/** The contact's draft, and a function that changes it. */
export function useDraft(contactId: string): [Draft, (change: Partial<Draft>) => void] {
  const [draft, setDraft] = useState(() => drafts.get(contactId) ?? EMPTY)
  // Also changes the draft of a conversation that is no longer open.
  const change = (changes: Partial<Draft>) => {
    const after = { ...(drafts.get(contactId) ?? EMPTY), ...changes }
    drafts.set(contactId, after)
    setDraft(after)
  }
  return [draft, change]
}
