import { VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useDescribe } from '../message/describe.js'
import { lastLoaded, seqOf, type ThreadWindow } from '../window.js'

/** Announces the customer's new messages to screen readers. */
export function Announcer({ window, contactName }: { window: ThreadWindow | undefined; contactName: string }) {
  const describe = useDescribe()
  const announced = useRef<number | null>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!window) return
    const before = announced.current ?? window.last_seq
    announced.current = Math.max(before, lastLoaded(window))
    const fresh = window.messages.filter((message) => seqOf(message) > before && message.sender_type === 'user-chat')
    if (fresh.length > 0) setText(fresh.map((message) => `${contactName}: ${describe(message)}`).join('\n'))
  }, [window, contactName, describe])
  return <VisuallyHidden aria-live="polite">{text}</VisuallyHidden>
}
