import { useMemo } from 'react'
import { useLocation, useSearchParams } from 'react-router'

/** The message that the URL names. A new object for each navigation, even to the same message. */
export function useAddressedMessage(): { seq: number | null } {
  const [params] = useSearchParams()
  const { key } = useLocation()
  const seq = Number(params.get('message') ?? 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key differs for each navigation
  return useMemo(() => ({ seq: Number.isSafeInteger(seq) && seq > 0 ? seq : null }), [seq, key])
}
