import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.js'
import { noteFailure, noteRepeat } from '../core/messages/trace/note-answers.js'
import { type KeptAnswer, performOnce, type RepeatableAnswer } from '../core/requests/idempotency.js'
import { newId } from '../lib/bytes/id.js'
import { sha256 } from '../lib/crypto/signature.js'
import { asObject, canonicalJson, isDeeperThan } from '../lib/text/json.js'
import { PROBLEMS, Problem } from '../model/problem.js'
import { tenantOf } from './access/auth.js'
import { statusOf } from './answers/problems.js'

/** A POST that may be repeated; see core/requests/idempotency. */
export interface Repeatable {
  /** Identifies the request if the parsed body does not; JSON. */
  fingerprint?: unknown
  /** The answer contains a secret and is stored encrypted. */
  isSecret?: boolean
  perform: (resourceId: string) => Promise<RepeatableAnswer>
  recover: (resourceId: string) => Promise<RepeatableAnswer | null>
}

const MAX_KEY_LENGTH = 255
const MAX_DEPTH = 64

/** The header for the API descriptions. */
export const IDEMPOTENCY_HEADER = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: MAX_KEY_LENGTH,
      description:
        'Makes the request safe to repeat: within 24 hours the same key and body give the first answer again, with the header Idempotent-Replayed',
    },
  },
}

/** Answers a POST once per `Idempotency-Key`; without the header it just performs it. */
export async function answerOnce(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { fingerprint = request.body ?? null, isSecret = false, perform, recover }: Repeatable,
): Promise<unknown> {
  const key = readKey(request)
  const performNoted = noting(ctx, request, perform)
  if (key === null) return send(reply, await performNoted(newId()))
  // If the endpoint reads no body, its depth has not been checked yet.
  if (isDeeperThan(fingerprint, MAX_DEPTH)) {
    throw new Problem('invalid_json', `The request body nests deeper than ${MAX_DEPTH} levels`)
  }
  const operation = `${request.method} ${request.url.split('?')[0]}`
  const bodyHash = sha256(canonicalJson(fingerprint))
  const claim = request.span?.child('claim idempotency key')
  const once = {
    ...{ operation, key, bodyHash, isSecret, isUnsettled, recover },
    perform: (id: string) => {
      claim?.end()
      return performNoted(id)
    },
  }
  const answer = await performOnce(ctx, tenantOf(request).id, once).finally(() => claim?.end())
  if (answer.replayed) {
    reply.header('idempotent-replayed', 'true')
    await noteRepeat(ctx, tenantOf(request).id, answer.resourceId, request.id)
  }
  return send(reply, answer)
}

/** Performs, and notes in the trace of a message with which failure its request is answered. */
function noting(ctx: Context, request: FastifyRequest, perform: Repeatable['perform']): Repeatable['perform'] {
  const note = (messageId: string, failure: { status: number; text: string }): void => {
    // Nobody waits for it: the database may be the reason of the failure.
    void noteFailure(ctx, tenantOf(request).id, messageId, { requestId: request.id, ...failure })
  }
  return async (id) => {
    try {
      const answer = await perform(id)
      const { status, body, failed } = answer
      // What names no message has recorded none.
      if (failed) note(failed.messageId, { status, text: failed.text })
      else if (status >= 400) {
        const { of, text } = readFailure(body)
        if (of === id) note(id, { status, text })
      }
      return answer
    } catch (error) {
      if (error instanceof Problem && error.extras.id === id) {
        note(id, { status: statusOf(error), text: PROBLEMS[error.code] })
      }
      throw error
    }
  }
}

/** The message that a failure is about, and its name; in the gateway both are in `response`. */
function readFailure(body: unknown): { of: unknown; text: string } {
  const { id, error, response } = asObject(body)
  const { id: ofGateway, message } = asObject(response)
  const [first] = [message].flat(2)
  return { of: id ?? ofGateway, text: typeof first === 'string' ? first : String(error) }
}

/** True if the answer reports a failure or an unknown outcome; send-template reports the latter with 200. */
function isUnsettled({ status, body }: KeptAnswer): boolean {
  return status >= 500 || asObject(body).error === PROBLEMS.outcome_unknown
}

function send(reply: FastifyReply, { status, body }: KeptAnswer): unknown {
  // Failures of the service are thrown; one that is returned tells what became of a call to the upstream.
  if (status >= 500) reply.request.faultOf = 'upstream'
  const retryAfter = readRetryAfter(body)
  if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.ceil(retryAfter)))
  reply.code(status)
  return body
}

/** At the top of the body in Interface A, in `response` in the gateway. */
function readRetryAfter(body: unknown): unknown {
  const { retry_after, response } = asObject(body)
  return retry_after ?? asObject(response).retry_after
}

function readKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && key.length >= 1 && key.length <= MAX_KEY_LENGTH) return key
  throw new Problem('invalid_parameter', `The header Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`)
}
