import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.js'
import { type CallbackReceipt, type CallbackReceiver, isVerifyToken } from '../../core/callbacks.js'
import { Problem } from '../../model/problem.js'
import { BODY_LIMIT, readBytes, readHeader } from './raw.js'

/** `/hooks/upstream`: the verification of the URL (GET) and the events (POST); contract 6. */
export function upstreamHooks(server: FastifyInstance, ctx: Context, callbacks: CallbackReceiver): void {
  server.get('/upstream', { schema: { hide: true } as object }, async (request, reply) => {
    const query = request.query as Record<string, unknown>
    const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query
    const known = mode === 'subscribe' && typeof token === 'string' && (await isVerifyToken(ctx, token))
    if (!known || typeof challenge !== 'string') {
      throw new Problem('invalid_verify_token', 'hub.verify_token is not the verify token of any organization')
    }
    // Plain text that no browser takes for a page: the challenge is whatever the caller says.
    reply.type('text/plain').header('x-content-type-options', 'nosniff')
    return reply.send(challenge)
  })

  server.post('/upstream', { schema: { hide: true } as object, bodyLimit: BODY_LIMIT }, async (request) => {
    const receipt = await callbacks.receive(readBytes(request), readHeader(request, 'x-hub-signature-256'))
    if (receipt !== 'stored') throw refusal(receipt)
    return { success: true }
  })
}

function refusal(receipt: Exclude<CallbackReceipt, 'stored'>): Problem {
  switch (receipt) {
    case 'not_json':
      return new Problem('invalid_json', 'The callback is not a JSON object')
    case 'unsigned':
      return new Problem('authorization_required', 'The callback has no X-Hub-Signature-256')
    case 'wrong_signature':
      return new Problem('invalid_signature', 'X-Hub-Signature-256 does not fit the body and the app secret')
    case 'unclaimed':
      return new Problem('invalid_signature', 'No organization claims a number that the callback names')
  }
}
