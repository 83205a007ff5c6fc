import { once } from 'node:events'
import { AskedToEnd } from '../failure.js'
import type { Streams } from '../invocation.js'
import { endingInOrder } from '../signals.js'

/** The environment of a command that runs until it is stopped. */
export interface Following {
  /** Aborted when it is stopped, or its output is no longer read. */
  signal: AbortSignal
  /** Writes to standard output at the reader's speed. Rejects when the signal aborts. */
  print(text: string): Promise<void>
}

/** Runs a command that has no end of its own until it is stopped (Ctrl-C), which counts as success. */
export function following({ stdout }: Streams, work: (following: Following) => Promise<void>): Promise<void> {
  return endingInOrder(async ({ signal: asked }) => {
    const unread = new AbortController()
    const end = () => unread.abort(new AskedToEnd('the output is no longer read'))
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
