import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { readId } from '../answer.js'
import type { BusinessNumber, Connection } from '../connection.js'
import { type Asked, ask, objectPath } from './ask.js'
import { readShort } from './tokens.js'

/** What stands in the way of sending, of a number, its account, its portfolio or its app. */
export interface HealthEntity {
  /** PHONE_NUMBER, WABA, BUSINESS, APP; possibly another. */
  type: string
  /** AVAILABLE, LIMITED, BLOCKED; possibly another. */
  canSend: string
  errors: { code: number | null; description: string; solution: string }[]
  /** Why it is limited. */
  notes: string[]
}

/**
 * What the upstream says about a business number. Words are its own in upper case, possibly unknown ones; null: it said
 * nothing.
 */
export interface NumberReading {
  display: string | null
  name: string | null
  status: string | null
  nameStatus: string | null
  newNameStatus: string | null
  quality: string | null
  throughput: string | null
  messagingLimit: string | null
  platform: string | null
  /** SANDBOX is a test number. */
  mode: string | null
  isOnPhoneApp: boolean
  canSend: string | null
  health: HealthEntity[]
  /** The callback addresses that are set for the number alone, its account, and the app; null: not asked for. */
  callbacks: { number: string | null; account: string | null; app: string | null } | null
}

const BASIC_FIELDS = 'display_phone_number,verified_name,status,quality_rating'
const FIELDS = [
  BASIC_FIELDS,
  ...['name_status', 'new_name_status', 'throughput', 'whatsapp_business_manager_messaging_limit', 'platform_type'],
  ...['account_mode', 'is_on_biz_app', 'health_status', 'webhook_configuration'],
].join(',')
const MAX_ENTITIES = 20
/** Error 100 also answers a field that this version of the API, or this number, does not have. */
const UNKNOWN_FIELD = 100

/** Reads the state of a number. If the upstream does not know a field, only the basic ones are read. */
export async function readNumberState(
  connection: Connection,
  number: BusinessNumber,
  timeoutMs: number,
): Promise<Asked<{ number: NumberReading }>> {
  const all = await readFields(connection, number, FIELDS, timeoutMs)
  const lacksField = all.outcome === 'refused' && all.code === UNKNOWN_FIELD && /nonexisting field/i.test(all.text)
  return lacksField ? readFields(connection, number, BASIC_FIELDS, timeoutMs) : all
}

function readFields(
  connection: Connection,
  number: BusinessNumber,
  fields: string,
  timeoutMs: number,
): Promise<Asked<{ number: NumberReading }>> {
  const path = `${objectPath(number.phoneNumberId)}?fields=${fields}`
  return ask(connection, { access: number, method: 'GET', path }, timeoutMs, (body) =>
    readId(body.id) === number.phoneNumberId ? { number: readReading(body, fields) } : null,
  )
}

function readReading(body: JsonObject, fields: string): NumberReading {
  const health = asObject(body.health_status)
  const configuration = asObject(body.webhook_configuration)
  return {
    display: readShort(body.display_phone_number),
    name: readShort(body.verified_name),
    status: readWord(body.status),
    nameStatus: readWord(body.name_status),
    newNameStatus: readWord(body.new_name_status),
    quality: readWord(body.quality_rating),
    throughput: readWord(asObject(body.throughput).level),
    messagingLimit: readWord(body.whatsapp_business_manager_messaging_limit),
    platform: readWord(body.platform_type),
    mode: readWord(body.account_mode),
    isOnPhoneApp: body.is_on_biz_app === true,
    canSend: readWord(health.can_send_message),
    health: asObjects(health.entities).slice(0, MAX_ENTITIES).map(readEntity),
    callbacks:
      fields === BASIC_FIELDS
        ? null
        : {
            number: readShort(configuration.phone_number),
            account: readShort(configuration.whatsapp_business_account),
            app: readShort(configuration.application),
          },
  }
}

function readEntity(entity: JsonObject): HealthEntity {
  return {
    type: readWord(entity.entity_type) ?? 'UNKNOWN',
    canSend: readWord(entity.can_send_message) ?? 'UNKNOWN',
    errors: asObjects(entity.errors)
      .slice(0, MAX_ENTITIES)
      .map((error) => ({
        code: Number.isSafeInteger(error.error_code) ? Number(error.error_code) : null,
        description: readShort(error.error_description) ?? '',
        solution: readShort(error.possible_solution) ?? '',
      })),
    notes: Array.isArray(entity.additional_info)
      ? entity.additional_info.slice(0, MAX_ENTITIES).flatMap((note) => readShort(note) ?? [])
      : [],
  }
}

function readWord(value: unknown): string | null {
  const text = asText(value)
  return text === null ? null : (readShort(text)?.toUpperCase() ?? null)
}
