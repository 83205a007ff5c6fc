import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readRecipient } from '../../../core/instances/send/recipient.js'
import { type InstanceSend, sendByInstance } from '../../../core/instances/send/send.js'
import { findSendResult } from '../../../core/messages/send/outcome.js'
import { tenantOf } from '../../../http/access/auth.js'
import { causeOf } from '../../../http/cause.js'
import { named } from '../../../http/description/name-schemas.js'
import { hangUpSignal } from '../../../http/hang-up.js'
import { answerOnce } from '../../../http/idempotency.js'
import type { JsonObject } from '../../../lib/text/json.js'
import type { Instance } from '../../../model/instances/instance.js'
import { ContentSchema } from '../../../model/messages/shown/schemas.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { requireRouteInstance } from '../auth.js'
import { normalizeBody } from '../body/normalize.js'
import { withBody } from '../body/receive.js'
import { MAX_MESSAGE_BYTES } from '../body/received.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { basicVerbs } from './basic.js'
import { describeBody } from './describe-body.js'
import { extractFile } from './extract-file.js'
import { fileVerbs } from './files.js'
import { interactiveVerbs } from './interactive.js'
import { toResponse } from './response.js'
import type { SendRequest, SendVerb } from './verb.js'

const VERBS: readonly SendVerb[] = [...basicVerbs, ...fileVerbs, ...interactiveVerbs]

const Sent = named(
  'SentMessage',
  Type.Object(
    {
      key: Type.Object({ remoteJid: Type.String(), fromMe: Type.Boolean(), id: Type.String() }),
      message: Type.Object({}, { additionalProperties: true }),
      messageType: Type.String(),
      content: ContentSchema,
      messageTimestamp: Type.Integer({ description: 'Unix seconds' }),
      pushName: Type.String(),
      instanceId: Type.String(),
      source: Type.String(),
      status: Type.Literal(201),
      error: Type.Literal(false),
      response: Type.Object({}, { additionalProperties: true, description: 'The message again, with its own status' }),
    },
    { additionalProperties: true },
  ),
)

/** `POST /message/{verb}/{instance}`: all sends. Bodies are streamed, since they may hold large files. */
export function messageRoutes(server: GatewayServer, ctx: Context): void {
  server.register(async (scope: GatewayServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(['application/json', 'multipart/form-data'], (_request, payload, done) => {
      done(null, payload)
    })
    for (const verb of VERBS) for (const name of verb.names) addRoute(scope, ctx, verb, name)
  })
}

function addRoute(scope: GatewayServer, ctx: Context, verb: SendVerb, name: string): void {
  scope.post(
    `/message/${name}/:instance`,
    {
      bodyLimit: MAX_MESSAGE_BYTES,
      config: { contentType: verb.fileField === null ? 'application/json' : 'application/json or multipart/form-data' },
      schema: {
        summary: verb.summary,
        params: instancePath,
        body: describeBody(verb),
        response: responses({ 201: Sent }, 400, 404, 409, 422, 500, 501),
      },
      // The body is still a stream here. It is validated after it was read and normalized.
      validatorCompiler: () => () => true,
    },
    (request, reply) => answerSend(ctx, request, reply, verb),
  )
}

async function answerSend(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  verb: SendVerb,
): Promise<unknown> {
  const signal = hangUpSignal(reply)
  const instance = await requireRouteInstance(ctx, request)
  return withBody(ctx, request, pathsOfFile(verb), async (body) => {
    const normalized = normalizeBody(body.fields, verb.shape)
    const { file, fields, fingerprint } = await extractFile(verb, normalized, body)
    const message = verb.read(fields, file)
    return answerOnce(ctx, request, reply, {
      fingerprint,
      ...createAttempt(ctx, request, instance, {
        ...(await buildSend(ctx, tenantOf(request), fields, message)),
        fileField: verb.fileField ?? '',
        signal,
        cause: causeOf(request, ctx.clock()),
      }),
    })
  })
}

/** The paths in a body where a verb's file may be. */
function pathsOfFile({ fileField, shape }: SendVerb): ReadonlySet<string> {
  if (fileField === null) return new Set()
  const names = [fileField, ...(shape.fields[fileField] ?? [])]
  return new Set([...names, ...names.map((name) => `${shape.wrapper}.${name}`)])
}

async function buildSend(
  ctx: Context,
  tenant: Tenant,
  fields: JsonObject,
  { content, conversion, recipient, replyTo }: SendRequest,
): Promise<Omit<InstanceSend, 'id' | 'fileField' | 'signal' | 'cause'>> {
  const { number, delay = 0, quoted } = fields as { number: string; delay?: number; quoted?: { key: { id: string } } }
  return {
    content,
    conversion: conversion ?? null,
    recipient: await readRecipient(ctx, tenant, recipient?.field ?? 'number', recipient?.number ?? number),
    replyTo: replyTo ?? (quoted ? { id: quoted.key.id, field: 'quoted.key.id' } : null),
    delayMs: delay,
  }
}

function createAttempt(ctx: Context, request: FastifyRequest, instance: Instance, send: Omit<InstanceSend, 'id'>) {
  const tenant = tenantOf(request)
  return {
    perform: async (id: string) => {
      const sent = await sendByInstance(ctx, tenant, instance, { ...send, id })
      return toResponse(ctx, instance, send, sent)
    },
    recover: async (id: string) => {
      const sent = await findSendResult(ctx, tenant, id)
      return sent && toResponse(ctx, instance, send, sent)
    },
  }
}
