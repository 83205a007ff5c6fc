import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import type { LiveEvent } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { useLive } from '../../../api/live.js'
import { type Loaded, type Shown, useLoaded, useOnce } from './list/use-loaded.js'
import {
  findByAnyId,
  firstSeq,
  isAtEnd,
  isLoaded,
  joined,
  lastLoaded,
  seqOf,
  type ThreadMessage,
  type ThreadPage,
  type ThreadWindow,
  touches,
  withMessage,
  withNewNote,
  withoutNote,
  withPage,
} from './window.js'

/** The loaded part of a conversation, and functions that load others. */
export interface ThreadStore extends Shown {
  error: unknown
  retry: () => void
  loadOlder: () => void
  loadNewer: () => Promise<void>
  /** Jumps to a message that is not loaded. Returns false if it is loaded. */
  jumpTo: (seq: number) => boolean
  /** Jumps to the newest message. Returns false if it is loaded. */
  jumpToNewest: () => boolean
}

const PAGE = 50
/** Events of messages that were just recorded. */
const NEW_MESSAGES: readonly string[] = ['message.received', 'message.sent']
/** Events of edited and deleted messages. */
const CHANGES: readonly string[] = ['message.edited', 'message.deleted']
/** Maximum number of messages that are reloaded after missed events. */
const MAX_REFRESHED = 200

/**
 * Loads a part of a contact's conversation and keeps it up to date. Starts at the `addressed` message; null: at the
 * newest.
 */
export function useThread(contactId: string, addressed: number | null): ThreadStore {
  const queries = useQueryClient()
  const state = useLoaded(() => queries.getQueryData<ThreadPage>(['thread', contactId]), addressed)
  const { shown, loaded, begin, change, replace } = state
  const early = useRef<LiveEvent[]>([])
  const once = useOnce()
  const read: ReadPage = useCallback(
    (query) => api.get<ThreadPage>(`/contacts/${contactId}/messages`, query),
    [contactId],
  )
  const { loadOlder, loadNewer, reload } = useLoaders(state, once, read)
  const onEvent = useOnEvent(state, loadNewer, reload)
  // The numbers of older messages change with it. The reader stays where they are.
  const reloadAfterHistory = useCallback(
    (isMovedWithin: boolean) =>
      void once('history', async () => {
        const window = loaded.current
        const first = window?.messages[0]
        if (!window) return
        if (!first) return replace(await read({ limit: PAGE }), null)
        const now = await read({ after: seqOf(first) - 1, limit: 1 })
        if (!isMovedWithin && now.messages[0]?.id === first.id) {
          return change((shown) => ({ ...shown, first_seq: now.first_seq }))
        }
        const middle = window.messages[Math.floor(window.messages.length / 2)] ?? first
        const fallen = window.first_seq - now.first_seq
        const page = await read(isAtEnd(window) ? { limit: PAGE } : { around: seqOf(middle) - fallen, limit: PAGE })
        const same = findByAnyId(page.messages, middle.id)
        replace(page, isAtEnd(window) ? null : (same?.seq ?? null))
      }),
    [change, loaded, once, read, replace],
  )
  const isSplit = useRef(false)
  useLive((event) => {
    if (event.unmerged && [event.contact_id, event.unmerged.id].includes(contactId)) return split()
    const isMovedWithin = loaded.current !== undefined && isMoved(loaded.current, event)
    if (event.type === 'history.imported' || isMovedWithin) reloadAfterHistory(isMovedWithin)
    if (event.contact_id !== contactId) return
    if (loaded.current && !isSplit.current) onEvent(event)
    else early.current.push(event)
  })

  /** Messages have gone to another conversation, and later ones have other numbers: nothing loaded counts any more. */
  function split() {
    isSplit.current = true
    void once('split', async () => {
      const page = await read({ limit: PAGE }).finally(() => {
        isSplit.current = false
      })
      queries.setQueryData<ThreadPage>(['thread', contactId], page)
      replace(page, null)
      for (const event of early.current.splice(0)) onEvent(event)
    })
  }

  const { data, error, refetch: retry } = useNewest(contactId, read)
  useEffect(() => {
    if (!data) return
    const window = loaded.current
    if (!window) {
      begin(data)
      for (const event of early.current.splice(0)) onEvent(event)
    } else if (touches(window, data)) {
      change((now) => withPage(now, data, 'newer'))
    } else if (isAtEnd(window)) {
      replace(data, null)
    } else {
      change((now) => ({ ...now, last_seq: Math.max(now.last_seq, data.last_seq) }))
    }
    if (window && firstSeq(window) < firstSeq(data)) {
      void read({ after: firstSeq(window) - 1, limit: MAX_REFRESHED }).then(
        (page) => change((now) => joined(now, page, 'newer')),
        () => undefined,
      )
    }
  }, [data, loaded, begin, change, replace, onEvent, read])

  // Cached, so that the conversation shows at once when it is opened again.
  useEffect(
    () => () => {
      const window = loaded.current
      if (!window || !isAtEnd(window)) return
      queries.setQueryData<ThreadPage>(['thread', contactId], newestOf(window), { updatedAt: 1 })
    },
    [queries, contactId, loaded],
  )

  const jumps = useJumps(state, once, read)
  return { ...shown, error, retry: () => void retry(), loadOlder, loadNewer, ...jumps }
}

type ReadPage = (query: Record<string, number>) => Promise<ThreadPage>
type Once = ReturnType<typeof useOnce>

/** Functions that load what adjoins the loaded part, and that reload a message. */
function useLoaders({ loaded, change }: Loaded, once: Once, read: ReadPage) {
  const loadOlder = useCallback(() => {
    const window = loaded.current
    if (!window || firstSeq(window) <= window.first_seq) return
    void once('older', async () => {
      const page = await read({ before: firstSeq(window), limit: PAGE })
      change((now) => joined(now, page, 'older'))
    })
  }, [change, loaded, once, read])

  const loadNewer = useCallback(async () => {
    const window = loaded.current
    if (!window) return
    await once('newer', async () => {
      const page = await read({ after: lastLoaded(window), limit: PAGE })
      change((now) => joined(now, page, 'newer'))
    })
  }, [change, loaded, once, read])

  const reload = useCallback(
    (seq: number) =>
      void once(`one ${seq}`, async () => {
        const page = await read({ after: seq - 1, limit: 1 })
        change((now) => joined(now, page, 'newer'))
      }),
    [change, once, read],
  )
  return { loadOlder, loadNewer, reload }
}

/** Applies an event to the loaded part, and loads what the event shows to be missing. */
function useOnEvent({ loaded, change }: Loaded, loadNewer: () => Promise<void>, reload: (seq: number) => void) {
  return useCallback(
    (event: LiveEvent) => {
      const { type, message, note } = event
      if (note) change((now) => (type === 'note.deleted' ? withoutNote(now, note.id) : withNewNote(now, note)))
      if (message) onMessage(message)

      function onMessage(message: ThreadMessage) {
        if (message.seq === null) {
          const about = loaded.current && findByAnyId(loaded.current.messages, message.context_message_id ?? '')
          if (about) reload(seqOf(about))
          return
        }
        // The event has the new text, but not the mark that it was edited.
        if (CHANGES.includes(type)) return reload(message.seq)
        const before = loaded.current
        change((now) => withMessage(now, message))
        const now = loaded.current
        if (!before || !now) return
        // Messages before it were recorded whose events have not arrived yet.
        if (isAtEnd(before) && !isAtEnd(now)) void loadNewer()
        if (lastLoaded(now) > lastLoaded(before) && isQuoteMissing(now, message)) reload(message.seq)
      }
    },
    [change, loaded, loadNewer, reload],
  )
}

/** Functions that replace the loaded part by another one. */
function useJumps({ loaded, replace }: Loaded, once: Once, read: ReadPage) {
  const jumpTo = useCallback(
    (seq: number) => {
      const window = loaded.current
      if (!window || isLoaded(window, seq)) return false
      void once('jump', async () => replace(await read({ around: seq, limit: PAGE }), seq))
      return true
    },
    [loaded, once, read, replace],
  )
  const jumpToNewest = useCallback(() => {
    if (!loaded.current || isAtEnd(loaded.current)) return false
    void once('jump', async () => replace(await read({ limit: PAGE }), null))
    return true
  }, [loaded, once, read, replace])
  return { jumpTo, jumpToNewest }
}

/** The newest page. Loaded when the conversation opens, and after events may have been missed. */
function useNewest(contactId: string, read: ReadPage) {
  return useQuery({
    queryKey: ['thread', contactId],
    queryFn: () => read({ limit: PAGE }),
    staleTime: 0,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  })
}

function newestOf({ messages, notes, ...ends }: ThreadWindow): ThreadPage {
  const newest = messages.slice(-PAGE)
  const from = newest[0]?.seq ?? 0
  return { messages: newest, notes: notes.filter(({ after_seq }) => after_seq >= from), ...ends }
}

/** Whether a new message has the number of another one, which has fallen: a history brought it before. */
function isMoved(window: ThreadWindow, { type, message }: LiveEvent): boolean {
  if (!message || message.seq === null || !NEW_MESSAGES.includes(type)) return false
  const known = window.messages[message.seq - firstSeq(window)]
  return known !== undefined && known.id !== message.id
}

/** Whether the quoted message of a reply is not loaded. */
function isQuoteMissing({ messages }: ThreadWindow, { id, context_message_id }: ThreadMessage): boolean {
  return context_message_id !== null && messages.findLast((message) => message.id === id)?.context === null
}
