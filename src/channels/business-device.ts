import { startCountdown } from '../lib/async/timeout.js'
import type { BusinessNumber, UpstreamClient } from '../upstream/client.js'
import type { Device, DeviceAnswer, DeviceCommand } from './device.js'

/** Commands that a number at the upstream does not support. */
export type BusinessRefusal = Exclude<DeviceCommand['verb'], 'connect' | 'restart' | 'mark_read'>

const REASONS: Record<BusinessRefusal, string> = {
  logout: 'it has no session to end: delete the instance, or revoke its access token',
  send: 'messages are sent through its channel, not by a command',
  set_presence: 'its numbers are neither online nor offline',
  show_presence: 'it shows that somebody types (composing), not that somebody records or pauses',
  check_numbers: 'it does not say whether a number is on WhatsApp: send, and look at the status of the message',
  profile_picture: 'it does not show profile pictures',
  delete_message: 'it cannot delete a message that was sent',
  edit_message: 'it cannot edit a message that was sent',
  archive: 'it has no chats to archive',
}

/**
 * The commands of a number at the upstream. Besides connecting, only marking messages as read is supported. Never
 * throws.
 */
export function businessDevice(upstream: UpstreamClient, number: BusinessNumber): Device {
  return async (command, timeoutMs) => {
    switch (command.verb) {
      case 'connect':
      case 'restart':
        return { outcome: 'done', value: null }
      case 'mark_read':
        return markRead(upstream, number, command, timeoutMs)
      default:
        return { outcome: 'unsupported', text: whyNotBusiness(command.verb) }
    }
  }
}

/** A sentence that says why the business API does not support a command. */
export function whyNotBusiness(verb: BusinessRefusal): string {
  return `The business API cannot do this: ${REASONS[verb]}`
}

/** The upstream takes one message per call. Stops at the first call that fails; own messages need no mark. */
async function markRead(
  upstream: UpstreamClient,
  number: BusinessNumber,
  { keys, isTyping = false }: Extract<DeviceCommand, { verb: 'mark_read' }>,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const leftMs = startCountdown(timeoutMs)
  for (const { id: messageId } of keys.filter(({ fromMe }) => !fromMe)) {
    const left = leftMs()
    if (left === 0) return { outcome: 'unknown', text: 'no time was left to mark all messages' }
    const outcome = await upstream.markRead(number, { messageId, isTyping }, left)
    if (outcome.outcome !== 'done') return outcome
  }
  return { outcome: 'done', value: null }
}
