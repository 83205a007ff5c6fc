import { useEffect, useRef } from 'react'
import { drop, isRecordOf, type Outgoing, update } from '../composer/pending-sends.js'
import type { ThreadStore } from './use-thread.js'
import { isAtEnd } from './window.js'

/** Lets go of messages on their way once the recorded ones are here; what was accepted and is not here is fetched. */
export function useSettledOutbox(outbox: readonly Outgoing[], { window, loadNewer }: ThreadStore): void {
  const asked = useRef(new Set<string>())
  useEffect(() => {
    if (!window || !isAtEnd(window)) return
    for (const outgoing of outbox) {
      if (outgoing.state !== 'accepted') continue
      if (window.messages.some((message) => isRecordOf(message, outgoing))) {
        drop(outgoing)
      } else if (!asked.current.has(outgoing.key)) {
        asked.current.add(outgoing.key)
        void loadNewer().then(() => settle(outgoing))
      }
    }
  }, [outbox, window, loadNewer])
}

/** After the newest messages were fetched: the recorded one is among them, or what has a reason and no record did not leave. */
function settle(outgoing: Outgoing): void {
  const { id, upstreamId, problem } = outgoing.sent
  const isUnrecorded = id === undefined && upstreamId === undefined && problem !== undefined
  if (isUnrecorded) update(outgoing, { state: 'failed' })
  else drop(outgoing)
}
