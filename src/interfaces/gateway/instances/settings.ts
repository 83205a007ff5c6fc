import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { decryptSettings, setInstanceSettings } from '../../../core/instances/manage/settings.js'
import { named } from '../../../http/description/name-schemas.js'
import { asObject, type JsonObject } from '../../../lib/text/json.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'

const Flag = Type.Optional(Type.Union([Type.Boolean(), Type.Null()]))
// An empty text is a value: it ends the text that was set.
const Text = Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Literal(''), Type.Null()]))

/** The settings of an instance in a body, with the names of version 2 and of version 1. */
export const settingsFields = {
  rejectCall: Flag,
  msgCall: Text,
  groupsIgnore: Flag,
  alwaysOnline: Flag,
  readMessages: Flag,
  readStatus: Flag,
  syncFullHistory: Flag,
  wavoipToken: Text,
  reject_call: Flag,
  msg_call: Text,
  groups_ignore: Flag,
  always_online: Flag,
  read_messages: Flag,
  read_status: Flag,
  sync_full_history: Flag,
}

const DEFAULTS = {
  rejectCall: false,
  msgCall: '',
  groupsIgnore: false,
  alwaysOnline: false,
  readMessages: false,
  readStatus: false,
  syncFullHistory: false,
  wavoipToken: '',
}

/** Settings in a response. */
export const SettingsSchema = named(
  'Settings',
  Type.Object({
    rejectCall: Type.Boolean(),
    msgCall: Type.String(),
    groupsIgnore: Type.Boolean(),
    alwaysOnline: Type.Boolean(),
    readMessages: Type.Boolean(),
    readStatus: Type.Boolean(),
    syncFullHistory: Type.Boolean(),
    wavoipToken: Type.String(),
  }),
)

const SetSettingsAnswer = named(
  'SettingsAnswer',
  Type.Object({
    settings: Type.Object({ instanceName: Type.String(), settings: SettingsSchema }),
  }),
)

/** `/settings`: change and read the settings of an instance. */
export function settingsRoutes(server: GatewayServer, ctx: Context): void {
  // Older clients use PUT.
  server.route({
    method: ['POST', 'PUT'],
    url: '/settings/set/:instance',
    schema: {
      summary: 'Change settings of an instance; omitted settings stay',
      params: instancePath,
      body: named('SetSettings', Type.Object(settingsFields)),
      response: responses({ 201: SetSettingsAnswer }, 400, 404),
    },
    handler: async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const settings = presentSettings(await setInstanceSettings(ctx, instance, readSettings(request.body)))
      return reply.code(201).send({ settings: { instanceName: instance.name, settings } })
    },
  })

  server.get(
    '/settings/find/:instance',
    {
      schema: {
        summary: 'Read the settings of an instance',
        params: instancePath,
        response: responses({ 200: SettingsSchema }, 404),
      },
    },
    async (request) => presentSettings(decryptSettings(ctx, await requireRouteInstance(ctx, request))),
  )
}

/**
 * The settings given in a body, by their names of version 2. All are stored; `readStatus`, `syncFullHistory` and
 * `wavoipToken` have no effect.
 */
export function readSettings(body: object): JsonObject {
  const given = asObject(body)
  const pairs = Object.keys(DEFAULTS).map((name) => [name, given[name] ?? given[toSnakeCase(name)]] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined && value !== null))
}

/** Every setting of an instance, with defaults for those never set. */
export function presentSettings(settings: JsonObject): JsonObject {
  return { ...DEFAULTS, ...settings }
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
