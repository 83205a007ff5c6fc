import { createContext, useContext } from 'react'
import type { PendingSend } from '../composer/pending-sends.js'
import type { Note, ThreadMessage } from './window.js'

/** What can be done from within the list of messages. */
export interface ThreadActions {
  /** Whether the member may write at all. */
  mayWrite: boolean
  /** The name of the line by which answers leave; messages by another one say so. */
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

/** Makes the actions known to the messages below it. */
export const ThreadActionsProvider = Actions.Provider

/** What can be done with a message. Only below ThreadActionsProvider. */
export function useThreadActions(): ThreadActions {
  const actions = useContext(Actions)
  if (!actions) throw new Error('There is no thread here')
  return actions
}
