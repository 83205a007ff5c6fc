import { useEffect, useRef } from 'react'
import { drop, isRecordOf, type PendingSend, update } from '../composer/pending-sends.js'
import type { ThreadStore } from './use-thread.js'
import { isAtEnd } from './window.js'

/** Removes pending sends whose recorded message has arrived, and fetches the messages of accepted sends that are missing. */
export function useConfirmedSends(pendingSends: readonly PendingSend[], { window, loadNewer }: ThreadStore): void {
  const asked = useRef(new Set<string>())
  useEffect(() => {
    if (!window || !isAtEnd(window)) return
    for (const pending of pendingSends) {
      if (pending.state !== 'accepted') continue
      if (window.messages.some((message) => isRecordOf(message, pending))) {
        drop(pending)
      } else if (!asked.current.has(pending.key)) {
        asked.current.add(pending.key)
        void loadNewer().then(() => finish(pending))
      }
    }
  }, [pendingSends, window, loadNewer])
}

/** Called after the newest messages are fetched: a send with a problem and without a recorded message has failed. */
function finish(pending: PendingSend): void {
  const { id, upstreamId, problem } = pending.result
  const isUnrecorded = id === undefined && upstreamId === undefined && problem !== undefined
  if (isUnrecorded) update(pending, { state: 'failed' })
  else drop(pending)
}
