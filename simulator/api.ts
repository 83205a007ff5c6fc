import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkProof } from './accounts/access.js'
import { accountsApi, changeNumber } from './accounts/api.js'
import { blockingApi } from './blocking/api.js'
import type { Context } from './context.js'
import { refusals } from './errors/refusals.js'
import { refuse } from './errors/refuse.js'
import { describeMedia, mediaApi, type ObjectRoute } from './media/api.js'
import { describeNumber } from './numbers/api.js'
import { handleSend } from './sending/send.js'
import { describeTemplate, templatesApi } from './templates/api.js'
import { examplesApi } from './templates/examples-api.js'
import { libraryApi } from './templates/library-api.js'
import { editTemplate, templateChangesApi } from './templates/manage.js'

/** The upstream's API, for every version of it (`/v23.0/…`). */
export function upstreamApi(app: FastifyInstance, context: Context): void {
  app.setErrorHandler((error, _request, reply) =>
    refuse(reply, isTooLarge(error) ? refusals.tooLarge() : refusals.internal()),
  )
  app.addHook('preHandler', async (request, reply) => {
    const { appsecret_proof: proof } = request.query as { appsecret_proof?: unknown }
    const refusal = checkProof(context, request.headers.authorization, proof)
    return refusal ? refuse(reply, refusal) : undefined
  })

  app.post<{ Params: { phoneNumberId: string } }>(
    '/:version(^v\\d+\\.\\d+$)/:phoneNumberId/messages',
    (request, reply) => {
      const { params, headers, body } = request
      const text = typeof body === 'string' ? body : ''
      const outcome = handleSend(context, params.phoneNumberId, headers.authorization, text)
      if (outcome.kind === 'refused') return refuse(reply, outcome.refusal)
      if (outcome.kind === 'dropped') return closeConnection(request, reply)
      if (outcome.afterMs === 0) return reply.send(outcome.body)
      return answerLate(reply, outcome.body, outcome.afterMs)
    },
  )

  // The path does not say what kind of object an id names.
  app.get<ObjectRoute>('/:version(^v\\d+\\.\\d+$)/:id', (request, reply) => {
    const { id } = request.params
    const number = context.numbers.get(id)
    if (!number && context.templates.findById(id)) return describeTemplate(context, request, reply)
    if (!number) return describeMedia(context, request, reply)
    const described = describeNumber(context, number, request.headers.authorization, request.query.fields)
    return 'body' in described ? refuse(reply, described) : reply.send(described.shown)
  })
  app.post<ObjectRoute>('/:version(^v\\d+\\.\\d+$)/:id', (request, reply) => {
    const change = context.templates.findById(request.params.id) ? editTemplate : changeNumber
    return change(context, request, reply)
  })
  accountsApi(app, context)
  blockingApi(app, context)
  mediaApi(app, context)
  templatesApi(app, context)
  templateChangesApi(app, context)
  libraryApi(app, context)
  examplesApi(app, context)

  app.all('/:version(^v\\d+\\.\\d+$)/*', (request, reply) => {
    const id = request.url.split(/[/?]/)[2] ?? ''
    return refuse(reply, refusals.unknownObject(request.method, id))
  })
}

function closeConnection(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.destroy()
  return reply
}

async function answerLate(reply: FastifyReply, body: object, afterMs: number): Promise<FastifyReply> {
  await delay(afterMs, undefined, { ref: false })
  return reply.send(body)
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 413
}
