import { useEffect, useState } from 'react'
import type { ReplyChannel } from '../../../../../src/model/conversations/inbox.js'

/** For how long a customer can be answered freely; null: always. */
export interface AnswerWindow {
  isOpen: boolean
  msLeft: number
}

const WINDOW_MS = 24 * 3_600_000
const TICK_MS = 30_000

/** The network's 24 hours in which a customer can be answered with anything but a template. Null where the line knows no such thing. */
export function useAnswerWindow(channel: ReplyChannel | undefined, lastInboundAt: string | null): AnswerWindow | null {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  if (!channel?.has_window) return null
  const msLeft =
    lastInboundAt === null ? 0 : Date.parse(lastInboundAt) + WINDOW_MS - Math.max(now, Date.now() - TICK_MS)
  return { isOpen: msLeft > 0, msLeft: Math.max(0, msLeft) }
}
