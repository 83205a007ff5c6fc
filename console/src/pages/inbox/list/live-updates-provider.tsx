import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useLive } from '../../../api/live.js'
import { hear, type NewsById, put } from './live-updates.js'

interface Heard {
  /** Another object whenever something was heard; the map in it is the same one. */
  readonly latest: { readonly news: NewsById }
  /** Makes an answer of the service, asked for at a moment of performance.now(), known without waiting for its event. */
  keep: (contact: InboxContact, askedAt: number) => void
  /** The contact is gone; no event tells. */
  forget: (contactId: string) => void
}

const Context = createContext<Heard | null>(null)

/** News are shown this many ms after the first of them, all together: a broadcast raises hundreds a second. */
const PAUSE_MS = 50

/** Hears what happens to contacts, wherever in the page one is: the inbox shows it when it is opened again. */
export function NewsProvider({ children }: { children: ReactNode }) {
  const [latest, setLatest] = useState(() => ({ news: new Map() as NewsById }))
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setLatest(({ news }) => ({ news }))
    }, PAUSE_MS)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  useLive((event) => {
    if (hear(latest.news, event, performance.now())) show()
  })
  const heard = useMemo(
    () => ({
      latest,
      keep: (contact: InboxContact, askedAt: number) => {
        put(latest.news, contact, askedAt, performance.now())
        setLatest(({ news }) => ({ news }))
      },
      forget: (contactId: string) => {
        latest.news.set(contactId, { at: performance.now(), fields: null, lastMessage: null })
        setLatest(({ news }) => ({ news }))
      },
    }),
    [latest],
  )
  return <Context.Provider value={heard}>{children}</Context.Provider>
}

/** What was heard of contacts since the page was opened. Only below NewsProvider. */
export function useNews(): Heard {
  const heard = useContext(Context)
  if (!heard) throw new Error('No news are heard here')
  return heard
}
