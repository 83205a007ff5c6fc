import { asObjects, asText } from '../../../lib/text/json.js'
import type { LinkedSocket } from '../library.js'
import { normalizeJid } from '../wire/jid.js'

/** Declines the calls of an event, if the owner of the device wants that. Failures go to `onWarning`. */
export function declineCalls(
  socket: LinkedSocket,
  { rejectCalls, callAnswer }: { rejectCalls: boolean; callAnswer: string | null },
  data: unknown,
  onWarning: (error: unknown, text: string) => void,
): void {
  if (!rejectCalls) return
  for (const call of asObjects(data)) {
    const id = asText(call.id)
    const from = asText(call.from)
    if (call.status !== 'offer' || id === null || from === null) continue
    // The call waited for the device; the caller has hung up since.
    if (call.offline === true) continue
    decline(socket, id, from, call.isGroup === true ? null : callAnswer).catch((error: unknown) => {
      onWarning(error, 'A call could not be declined')
    })
  }
}

async function decline(socket: LinkedSocket, id: string, from: string, answer: string | null): Promise<void> {
  await socket.rejectCall(id, from)
  if (answer) await socket.sendMessage(normalizeJid(from), { text: answer, linkPreview: null }, {})
}
