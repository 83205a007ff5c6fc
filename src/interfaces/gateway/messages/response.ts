import type { Context } from '../../../context.js'
import { findSent, type InstanceSend } from '../../../core/instances/send/send.js'
import type { SendResult } from '../../../core/messages/send/outcome.js'
import type { RepeatableAnswer } from '../../../core/runtime/idempotency.js'
import { explainUnsent } from '../../../http/unsent.js'
import { presentGatewayMessage } from '../../../model/instances/gateway-message.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { gatewayBodyOf, gatewayStatusOf } from '../errors.js'

/** The upstream's code of an error: nobody has the number. */
const NOT_ON_NETWORK = 131026
/** The code of an error of a linked device: it has no such thing. */
const NOT_SUPPORTED = 501

type Asked = Pick<InstanceSend, 'recipient'>

/**
 * The answer to what became of a send (contract 5). Kept for an Idempotency-Key is only what will not change by trying again.
 * Throws what will: upstream_credentials, upstream_unavailable, too_many_requests.
 */
export async function toResponse(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  asked: Asked,
  sent: SendResult,
): Promise<RepeatableAnswer> {
  if (sent.result === 'accepted') return presentSent(ctx, tenant, instance, asked, sent.messageId)
  const problem = toProblem(instance, asked, sent)
  if (!isFinal(sent)) throw problem
  return { status: gatewayStatusOf(problem), body: gatewayBodyOf(problem), final: true }
}

/** The message twice: its fields for clients of the one kind, and as a whole for those of the other. */
async function presentSent(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { recipient: { kind, jid } }: Asked,
  id: string,
): Promise<RepeatableAnswer> {
  const found = await findSent(ctx, tenant, id)
  if (found === null) throw new Problem('message_not_found', `The message ${id} has just been erased`)
  const chat = kind === 'person' ? found.chat : { ...found.chat, jid }
  const shown = presentGatewayMessage(found.message, chat, instance.id, ctx.mediaLinks.urlOf)
  const raw = { ...shown, status: 'PENDING' }
  return { status: 201, body: { ...raw, status: 201, error: false, response: raw }, final: true }
}

type Failed = Exclude<SendResult, { result: 'accepted' }>

function isFinal(sent: Failed): boolean {
  return sent.result === 'unknown' || (sent.result === 'refused' && sent.because === 'message')
}

function toProblem({ kind }: Instance, asked: Asked, sent: Failed): Problem {
  if (sent.result === 'refused') return explainRefusal(asked, sent)
  const problem = explainUnsent(sent, 'network')
  // Its row said that it was open a moment ago.
  const isClosed = sent.result === 'unavailable' && kind === 'linked_device'
  return isClosed ? new Problem('instance_not_open', 'Connection Closed', problem.extras) : problem
}

function explainRefusal(
  { recipient: { given: number, jid } }: Asked,
  { because, code, text, messageId: id }: Extract<SendResult, { result: 'refused' }>,
): Problem {
  if (because === 'credentials') {
    return new Problem('upstream_credentials', 'The upstream refused the access token: set a valid one', {
      details: text,
      upstream_code: code,
      id,
    })
  }
  if (code === NOT_ON_NETWORK) {
    return new Problem('not_on_network', text, { numbers: [{ jid, exists: false, number }], upstream_code: code, id })
  }
  return new Problem(code === NOT_SUPPORTED ? 'not_supported' : 'upstream_rejected', text, { upstream_code: code, id })
}
