import { useRef } from 'react'
import { newKey } from '../../../shared/new-key.js'

/** The Idempotency-Key of a body. The same body keeps its key, so that it takes effect only once. */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef({ body: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.body !== text) last.current = { body: text, key: newKey() }
    return last.current.key
  }
}
