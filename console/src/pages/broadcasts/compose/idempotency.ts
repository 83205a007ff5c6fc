import { useRef } from 'react'
import { newKey } from '../../../shared/new-key.js'

/** The key with which a body is sent: the same body keeps its key, so that it does once whatever it does. */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef({ body: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.body !== text) last.current = { body: text, key: newKey() }
    return last.current.key
  }
}
