import { useCallback, useMemo } from 'react'
import { useHref, useNavigate, useSearchParams } from 'react-router'
import { type InboxFilter, VIEWS } from './fits.js'

/** The filter in the URL, so that links keep it, and a function that changes it. */
export function useInboxFilter(): [InboxFilter, (changes: Partial<InboxFilter>) => void] {
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const base = useHref('/')
  const view = VIEWS.find((known) => known === params.get('filter')) ?? 'all'
  const tag = params.get('tag') ?? ''
  const search = params.get('search') ?? ''
  const filter = useMemo(() => ({ view, tag, search }), [view, tag, search])
  const change = useCallback(
    (changes: Partial<InboxFilter>) => {
      // As it is in the browser, not as it was rendered last: a typed search is applied some time after it was typed,
      // and must not undo what was chosen meanwhile.
      const { pathname, search: current } = window.location
      navigate(
        { pathname: pathname.slice(base.length) || '/', search: changed(new URLSearchParams(current), changes) },
        { replace: true },
      )
    },
    [navigate, base],
  )
  return [filter, change]
}

function changed(params: URLSearchParams, { view, tag, search }: Partial<InboxFilter>): string {
  // Keep the open conversation while the search is typed.
  params.delete('message')
  for (const [name, value] of Object.entries({ filter: view === 'all' ? '' : view, tag, search })) {
    if (value === undefined) continue
    if (value === '') params.delete(name)
    else params.set(name, value)
  }
  return params.toString()
}

/** A function that opens a conversation, or the list (null), with the filter that the browser has by then. */
export function useOpen(): (contactId: string | null) => void {
  const navigate = useNavigate()
  return useCallback(
    (contactId) => navigate(placeOf(contactId, new URLSearchParams(window.location.search))),
    [navigate],
  )
}

/** Path of a conversation, or of the list, that keeps the filter in `params`. */
export function placeOf(contactId: string | null, params: URLSearchParams): { pathname: string; search: string } {
  const next = new URLSearchParams(params)
  next.delete('message')
  return { pathname: contactId === null ? '/inbox' : `/inbox/${contactId}`, search: next.toString() }
}
