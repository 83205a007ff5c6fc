import { once } from 'node:events'
import { AskedToEnd } from '../failure.js'
import type { Streams } from '../invocation.js'
import { endingInOrder } from '../signals.js'

/** What a command is given that goes on and on. */
export interface Following {
  /** Aborted when it is to end: somebody asked for it, or nobody reads its output any more. */
  signal: AbortSignal
  /** Writes to standard output, as fast as it is read. Rejects when the signal is aborted. */
  print(text: string): Promise<void>
}

/** Runs a command that has no end of its own, until it is asked to end (Ctrl-C): then it is done, and nothing has failed. */
export function following({ stdout }: Streams, work: (following: Following) => Promise<void>): Promise<void> {
  return endingInOrder(async ({ signal: asked }) => {
    const unread = new AbortController()
    const end = () => unread.abort(new AskedToEnd('nobody reads the output'))
    stdout.on('error', end).on('close', end)
    const signal = AbortSignal.any([asked, unread.signal])
    const print = async (text: string) => {
      if (!stdout.write(text)) await once(stdout, 'drain', { signal })
    }
    try {
      await work({ signal, print })
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      stdout.off('error', end).off('close', end)
    }
  })
}
