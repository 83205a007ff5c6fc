import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { findProfile, findProfilePicture, showPresence } from '../../../core/instances/chats/chat-commands.js'
import { checkNumbers } from '../../../core/instances/manage/check-numbers.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { hangUpSignal } from '../../../http/hang-up.js'
import { Maybe } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'
import { requireRouteInstance, usesInstanceToken } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { given, Jid, RequiredJid } from './schemas.js'

/** Maximum duration of "typing…". The response is sent when it is over. */
const MAX_DELAY_MS = 60_000
const MAX_NUMBERS = 500
const PRESENCES = ['unavailable', 'available', 'composing', 'recording', 'paused'] as const

const NumbersBody = named(
  'CheckNumbers',
  Type.Object({
    numbers: Type.Array(RequiredJid, { minItems: 1, maxItems: MAX_NUMBERS, 'x-missing': true }),
  }),
)

const shownPresence = {
  presence: Maybe(Type.Enum([...PRESENCES])),
  delay: Maybe(
    Type.Integer({ minimum: 0, maximum: MAX_DELAY_MS, description: 'Milliseconds. The answer comes after this time.' }),
  ),
}
const PresenceBody = named(
  'SendPresence',
  Type.Object({
    number: RequiredJid,
    ...shownPresence,
    options: Maybe(Type.Object(shownPresence, { description: 'Where older clients put these fields' })),
  }),
)

const NumberBody = named('OneNumber', Type.Object({ number: Maybe(Jid) }))

const NumbersAnswer = Type.Array(
  Type.Object({
    jid: Type.String(),
    exists: Type.Boolean(),
    number: Type.String({ description: 'The number as it was given' }),
    name: Type.Optional(Type.String()),
    lid: Type.Optional(Type.String()),
  }),
)

const OptionalText = Type.Union([Type.String(), Type.Null()])

const PictureAnswer = Type.Object({ wuid: Type.String(), profilePictureUrl: OptionalText })

const ProfileAnswer = Type.Object({
  wuid: Type.String(),
  name: OptionalText,
  numberExists: Type.Boolean(),
  picture: OptionalText,
  status: Type.Null(),
  isBusiness: Type.Boolean(),
})

/** `POST /chat/whatsappNumbers`, `/chat/sendPresence`, `/chat/fetchProfilePictureUrl`, `/chat/fetchProfile`. */
export function peopleRoutes(server: GatewayServer, ctx: Context): void {
  server.post(
    '/chat/whatsappNumbers/:instance',
    {
      schema: {
        summary: 'Check which numbers have WhatsApp',
        params: instancePath,
        body: NumbersBody,
        response: responses({ 200: NumbersAnswer }, 400, 404, 500, 501),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      return checkNumbers(ctx, tenantOf(request), instance, request.body.numbers)
    },
  )

  server.post(
    '/chat/sendPresence/:instance',
    {
      schema: {
        summary: 'Show a contact that you are typing or recording',
        params: instancePath,
        body: PresenceBody,
        response: responses({ 201: Type.Object({ presence: Type.Enum([...PRESENCES]) }) }, 400, 404, 500, 501),
      },
    },
    async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { number, options } = request.body
      const presence = request.body.presence ?? options?.presence
      if (!presence) throw new Problem('missing_field', 'presence is required and must not be empty')
      const delayMs = request.body.delay ?? options?.delay ?? 0
      const signal = hangUpSignal(reply)
      await showPresence(ctx, tenantOf(request), instance, { number, presence, delayMs, signal })
      return reply.code(201).send({ presence })
    },
  )

  server.post(
    '/chat/fetchProfilePictureUrl/:instance',
    {
      schema: {
        summary: 'Read the address of a profile picture',
        description: 'Without a number: of the instance itself.',
        params: instancePath,
        body: NumberBody,
        response: responses({ 200: PictureAnswer }, 400, 404, 500, 501),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const number = given(request.body.number)
      const { jid, url } = await findProfilePicture(ctx, tenantOf(request), instance, number)
      return { wuid: jid, profilePictureUrl: url }
    },
  )

  server.post(
    '/chat/fetchProfile/:instance',
    {
      schema: {
        summary: 'Read the profile of a contact',
        description: 'Without a number: of the instance itself.',
        params: instancePath,
        body: NumberBody,
        response: responses({ 200: ProfileAnswer }, 400, 404, 500, 501),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const { jid, name, exists, url } = await findProfile(ctx, tenantOf(request), instance, {
        number: given(request.body.number),
        isOfInstanceAlone: usesInstanceToken(request),
      })
      return { wuid: jid, name, numberExists: exists, picture: url, status: null, isBusiness: false }
    },
  )
}
