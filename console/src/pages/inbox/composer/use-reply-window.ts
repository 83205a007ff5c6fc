import { useEffect, useState } from 'react'
import type { ReplyChannel } from '../../../../../src/model/conversations/inbox.js'

/** Time left to reply freely. Null: always. */
export interface ReplyWindow {
  isOpen: boolean
  msLeft: number
}

const WINDOW_MS = 24 * 3_600_000
const TICK_MS = 30_000

/** WhatsApp's 24-hour window for free replies. Null if the channel has no such window. */
export function useReplyWindow(channel: ReplyChannel | undefined, lastInboundAt: string | null): ReplyWindow | null {
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
