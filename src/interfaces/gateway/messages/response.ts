import type { Context } from '../../../context.js'
import { findSent, type InstanceSend } from '../../../core/instances/send/send.js'
import type { SendResult } from '../../../core/messages/send/outcome.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { explainUnsent } from '../../../http/answers/unsent.js'
import { presentGatewayMessage } from '../../../model/instances/gateway-message.js'
import type { Instance } from '../../../model/instances/instance.js'
import { withRemedy } from '../../../model/messages/upstream-codes.js'
import { Problem } from '../../../model/problem.js'
import { gatewayBodyOf, gatewayStatusOf } from '../errors.js'

/** The upstream's error code for a number that is not on WhatsApp. */
const NOT_ON_NETWORK = 131026
/** The error code of a linked device for a type of message that it does not have. */
const NOT_SUPPORTED = 501

type WithRecipient = Pick<InstanceSend, 'recipient'>

/**
 * The response to a send by its outcome. Outcomes that a retry cannot change are returned, and so stored for the
 * Idempotency-Key. The others are thrown: upstream_credentials, upstream_unavailable, too_many_requests,
 * instance_not_open.
 */
export async function toResponse(
  ctx: Context,
  instance: Instance,
  send: WithRecipient,
  sent: SendResult,
): Promise<RepeatableAnswer> {
  if (sent.result === 'accepted') return presentSent(ctx, instance, send, sent.messageId)
  const problem = toProblem(instance, send, sent)
  if (!isFinal(sent)) throw problem
  return { status: gatewayStatusOf(problem), body: gatewayBodyOf(problem), final: true }
}

/** Contains the message twice: some clients read its fields at the top level, others read `response`. */
async function presentSent(
  ctx: Context,
  instance: Instance,
  { recipient: { kind, jid } }: WithRecipient,
  id: string,
): Promise<RepeatableAnswer> {
  const found = await findSent(ctx, instance.organization_id, id)
  if (found === null) throw new Problem('message_not_found', `The message ${id} has just been erased`)
  const chat = kind === 'group' || kind === 'lid' ? { ...found.chat, jid } : found.chat
  const shown = presentGatewayMessage(found.message, chat, instance.id, ctx.mediaLinks.urlOf)
  const raw = { ...shown, status: 'PENDING' }
  return { status: 201, body: { ...raw, status: 201, error: false, response: raw }, final: true }
}

type Failed = Exclude<SendResult, { result: 'accepted' }>

function isFinal(sent: Failed): boolean {
  return sent.result === 'unknown' || (sent.result === 'refused' && sent.because === 'message')
}

function toProblem({ kind }: Instance, send: WithRecipient, sent: Failed): Problem {
  if (sent.result === 'refused') return explainRefusal(send, sent)
  const problem = explainUnsent(sent, 'network')
  // The instance was open when the request came, and has lost its connection since.
  const isClosed = sent.result === 'unavailable' && kind === 'linked_device'
  return isClosed ? new Problem('instance_not_open', 'Connection Closed', problem.extras) : problem
}

function explainRefusal(
  { recipient: { given: number, jid } }: WithRecipient,
  { because, code, text, messageId: id }: Extract<SendResult, { result: 'refused' }>,
): Problem {
  if (because === 'credentials') {
    const refused = 'The upstream refused the access token: set a valid one'
    return new Problem('upstream_credentials', withRemedy(refused, code), { details: text, upstream_code: code, id })
  }
  if (code === NOT_ON_NETWORK) {
    return new Problem('not_on_network', text, { numbers: [{ jid, exists: false, number }], upstream_code: code, id })
  }
  const extras = { upstream_code: code, id }
  if (code === NOT_SUPPORTED) return new Problem('not_supported', text, extras)
  return new Problem('upstream_rejected', withRemedy(text, code), extras)
}
