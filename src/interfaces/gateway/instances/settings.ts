import { Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { asObject, type JsonObject } from '../../../lib/text/json.js'

const Flag = Type.Optional(Type.Union([Type.Boolean(), Type.Null()]))
const Text = Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()]))

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
