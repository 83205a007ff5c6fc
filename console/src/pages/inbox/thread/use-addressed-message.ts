import { useMemo } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import { readSeq } from './window.js'

/** The message that the URL names. A new object for each navigation, even to the same message. */
export function useAddressedMessage(): { seq: number | null } {
  const [params] = useSearchParams()
  const { key } = useLocation()
  const given = params.get('message')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key differs for each navigation
  return useMemo(() => ({ seq: readSeq(given) }), [given, key])
}
