import type { BusinessNumber, UpstreamClient } from '../upstream/client.js'
import type { MarkReadOutcome } from '../upstream/mark-read.js'
import type { Device, DeviceAnswer, DeviceCommand, MessageKey } from './device.js'

/** What a number at the upstream cannot be asked for. */
export type BusinessRefusal = Exclude<DeviceCommand['verb'], 'connect' | 'restart' | 'mark_read'>

/** Why the business API cannot do what a linked device can. */
const REASONS: Record<BusinessRefusal, string> = {
  logout: 'it has no session that could be ended: delete the instance, or revoke its access token',
  send: 'messages leave by its channel, not by a command',
  set_presence: 'a number on it is neither online nor offline',
  show_presence: 'it shows that somebody types only as part of marking a message as read',
  check_numbers: 'it tells of no number whether it is on the network: send, and see what becomes of the message',
  profile_picture: 'it shows nobody’s profile picture',
  delete_message: 'it takes back no message that was sent',
  edit_message: 'it changes no message that was sent',
  archive: 'it keeps no chats that could be archived',
}

/** What a number at the upstream can be asked for beside sending: to mark messages as read. Never throws. */
export function businessDevice(upstream: UpstreamClient, number: BusinessNumber): Device {
  return async (command, timeoutMs) => {
    switch (command.verb) {
      case 'connect':
      case 'restart':
        return { outcome: 'done', value: null }
      case 'mark_read':
        return markRead(upstream, number, command.keys, timeoutMs)
      default:
        return { outcome: 'unsupported', text: whyNotBusiness(command.verb) }
    }
  }
}

/** Why the business API does not do what a command asks for, in a sentence. */
export function whyNotBusiness(verb: BusinessRefusal): string {
  return `The business API cannot do this: ${REASONS[verb]}`
}

/** One call for each message, one after the other, until one is not done; our own need no mark. */
async function markRead(
  upstream: UpstreamClient,
  number: BusinessNumber,
  keys: MessageKey[],
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const deadline = Date.now() + timeoutMs
  for (const { id } of keys.filter(({ fromMe }) => !fromMe)) {
    const left = deadline - Date.now()
    if (left <= 0) return { outcome: 'unknown', text: 'no time was left to mark all messages' }
    const outcome = await upstream.markRead(number, id, left)
    if (outcome.outcome !== 'done') return toAnswer(outcome)
  }
  return { outcome: 'done', value: null }
}

function toAnswer(outcome: Exclude<MarkReadOutcome, { outcome: 'done' }>): DeviceAnswer {
  if (outcome.outcome === 'not_reached') return { outcome: 'not_open', text: outcome.text }
  return outcome
}
