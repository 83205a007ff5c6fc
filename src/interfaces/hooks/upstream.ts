import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.js'
import { type CallbackReceiver, isVerifyToken, MAX_CALLBACK_VALUES } from '../../core/callbacks/receive/receiver.js'
import { suspended } from '../../core/organizations/suspension.js'
import { storedTraceOf } from '../../http/cause.js'
import { Problem } from '../../model/problem.js'
import { type HookMemory, networkOf } from './body-memory.js'
import { BODY_LIMIT, readBytes, readSignature } from './raw-body.js'

const SIGNATURE = { name: 'X-Hub-Signature-256', form: /^sha256=([0-9a-f]{64})$/ }

/** `/hooks/upstream`: verification of the URL (GET) and callbacks (POST). */
export function upstreamHooks(
  server: FastifyInstance,
  ctx: Context,
  callbacks: CallbackReceiver,
  memory: HookMemory,
): void {
  server.get('/upstream', { schema: { hide: true } as object }, async (request, reply) => {
    const query = request.query as Record<string, unknown>
    const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query
    const known = mode === 'subscribe' && typeof token === 'string' && (await isVerifyToken(ctx, token))
    if (!known || typeof challenge !== 'string') {
      throw new Problem('invalid_verify_token', 'hub.verify_token is not the verify token of any organization')
    }
    // Plain text with nosniff, since the caller chooses the challenge: no browser may run it as a page.
    reply.type('text/plain').header('x-content-type-options', 'nosniff')
    return reply.send(challenge)
  })

  server.post(
    '/upstream',
    {
      schema: { hide: true } as object,
      bodyLimit: BODY_LIMIT,
      // Before the body is read, so that unsigned requests cost nothing.
      onRequest: async (request) => void readSignature(request, SIGNATURE),
    },
    async (request, reply) => {
      const from = { network: networkOf(request), isGone: () => reply.raw.destroyed }
      const signature = readSignature(request, SIGNATURE)
      const receipt = await callbacks.receive(readBytes(request), signature, from, storedTraceOf(request))
      switch (receipt) {
        case 'stored':
        case 'sample':
          memory.know(request)
          return { success: true }
        case 'suspended':
          memory.know(request)
          throw suspended()
        case 'too_many_values':
          throw new Problem('payload_too_large', `The callback has more than ${MAX_CALLBACK_VALUES} values`)
        case 'not_json':
          throw new Problem('invalid_json', 'The callback is not a JSON object')
        case 'wrong_signature':
          // The same text if no organization claims the number, so that strangers cannot find out who is a customer.
          throw new Problem(
            'invalid_signature',
            "X-Hub-Signature-256 does not match the body and the organization's app secret",
          )
      }
    },
  )
}
