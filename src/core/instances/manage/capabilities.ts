import { type BusinessRefusal, whyNotBusiness } from '../../../channels/business-device.js'
import type { Instance, InstanceKind } from '../../../model/instances/instance.js'
import type { MessageContent } from '../../../model/messages/content.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { sentence } from '../../../model/sentence.js'
import { requireOpen } from './find.js'

/** The longest text that a linked device can send, in characters. */
const NETWORK_TEXT = 65_536

/** Refuses content, or a length, that a kind of instance cannot send. Throws not_supported, invalid_field. */
export function checkSupport(kind: InstanceKind, content: MessageContent): void {
  const reason = whyNot(kind, content)
  if (reason !== null) throw new Problem('not_supported', reason)
  if ('text' in content && content.type === 'text') checkLength('text', content.text, textLimit(kind))
  if ('caption' in content && content.caption !== null) checkLength('caption', content.caption, captionLimit(kind))
}

/**
 * Refuses a command that the instance cannot do at all, or not while it is closed. Call it before any look-up, so that
 * the answer does not depend on what the request names. Throws not_supported, instance_not_open.
 */
export function requireCapability(instance: Instance, verb: BusinessRefusal): void {
  if (instance.kind === 'business_api') throw new Problem('not_supported', whyNotBusiness(verb))
  requireOpen(instance)
}

function whyNot(kind: InstanceKind, content: MessageContent): string | null {
  if (kind === 'linked_device') return whyNotLinked(content)
  if (content.type === 'poll' && kind === 'business_api') {
    return 'The business API has no polls: send a list or buttons, or use a linked device'
  }
  if (content.type === 'video' && content.round) {
    const who = kind === 'sandbox' ? 'A simulated phone of the sandbox' : 'The business API'
    return `${who} has no round video notes: send a video, or use a linked device`
  }
  if (content.type === 'raw_template' && kind === 'sandbox') {
    return 'A simulated phone has no templates: use an instance of kind WHATSAPP-BUSINESS'
  }
  return null
}

/** Other gateways answer 201 to these, although the messages never arrive. */
function whyNotLinked({ type }: MessageContent): string | null {
  switch (type) {
    case 'interactive':
      return 'WhatsApp delivers interactive messages (buttons, lists, links, forms, products, requests) of business numbers only: send a poll or a text, or use an instance of kind WHATSAPP-BUSINESS'
    case 'raw_template':
    case 'template':
      return 'Templates belong to business numbers: use an instance of kind WHATSAPP-BUSINESS'
    default:
      return null
  }
}

function textLimit(kind: InstanceKind): number {
  return kind === 'linked_device' ? NETWORK_TEXT : LIMITS.text
}

function captionLimit(kind: InstanceKind): number {
  return kind === 'linked_device' ? NETWORK_TEXT : LIMITS.caption
}

function checkLength(field: string, text: string, limit: number): void {
  // Counts code points, but only for texts that may be too long.
  if (text.length <= limit || [...text].length <= limit) return
  throw new Problem('invalid_field', sentence('at_most', { field, limit }))
}
