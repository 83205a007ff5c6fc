import { withTimeout } from '../../../lib/async/timeout.js'
import { asText } from '../../../lib/text/json.js'
import { KeysNotRead } from '../keys/key-store.js'
import type { LinkedSocket } from '../library.js'
import type { Directory } from '../wire/from-network.js'

/** Maximum wait for a group's name; its messages wait for it. */
const SUBJECT_TIMEOUT_MS = 5_000

/** The directory of a connection. */
export function openDirectory(socket: LinkedSocket): Directory {
  const subjects = new Map<string, Promise<string | null>>()

  async function askSubject(group: string): Promise<string | null> {
    const found = await withTimeout(socket.groupMetadata(group), SUBJECT_TIMEOUT_MS).catch(() => null)
    return asText(found?.subject)
  }

  return {
    findPhone: (lid) => socket.signalRepository.lidMapping.getPNForLID(lid).catch(toNone),
    // Asked once per connection.
    findSubject: (group) => {
      const known = subjects.get(group) ?? askSubject(group)
      subjects.set(group, known)
      return known
    },
  }
}

/** Other failures mean that no number is known; keys that could not be read may contain one. */
function toNone(error: unknown): null {
  if (error instanceof KeysNotRead) throw error
  return null
}
