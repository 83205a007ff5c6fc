import { createContext, useContext } from 'react'
import type { PendingSend } from '../composer/pending-sends.js'
import type { Note, ThreadMessage } from './window.js'

/** Actions on messages, and what they depend on. */
export interface ThreadActions {
  /** Whether the member may send messages. */
  mayWrite: boolean
  /** The instance that replies go through; null: the organization's number. Messages of other channels are labelled. */
  channelName: string | null
  contactName: string
  reply: (message: ThreadMessage) => void
  react: (message: ThreadMessage, emoji: string) => void
  sendAgain: (message: ThreadMessage) => void
  chooseTemplate: () => void
  showInfo: (message: ThreadMessage) => void
  goTo: (seq: number) => void
  retry: (pending: PendingSend) => void
  drop: (pending: PendingSend) => void
  deleteNote: (note: Note) => void
  mayDelete: (note: Note) => boolean
}

const Actions = createContext<ThreadActions | null>(null)

/** Provides the actions to the messages below it. */
export const ThreadActionsProvider = Actions.Provider

/** The actions of the thread. Only below ThreadActionsProvider. */
export function useThreadActions(): ThreadActions {
  const actions = useContext(Actions)
  if (!actions) throw new Error('There is no thread here')
  return actions
}
