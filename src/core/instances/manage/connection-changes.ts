import type { Context } from '../../../context.js'
import { asObject, asObjects, asText } from '../../../lib/text/json.js'
import { toStorableDeep } from '../../../lib/text/text.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { type ConnectionState, recordState } from './connection-state.js'

/** What a callback of the simulator tells of the connection of one of its phones. */
export interface ConnectionChange extends ConnectionState {
  /** The number that it is about. */
  phoneNumberId: string | null
}

const MAX_NAME_LENGTH = 200
/** What a code of the network fits in: a column of type integer. */
const MAX_CODE = 999_999

/**
 * Takes over what a stored callback tells of the connection of the instance that it came through: whether its pretend phone was
 * linked or unlinked (contract 6). Other kinds of instance have no such callbacks. With `receivedAt` nothing that has changed since
 * is changed back.
 */
export async function applyConnectionChanges(
  ctx: Pick<Context, 'database' | 'notifications'>,
  organizationId: string,
  instanceId: string | null,
  body: Buffer,
  receivedAt?: Date,
): Promise<void> {
  const changes = instanceId === null ? [] : readConnectionChanges(body)
  if (instanceId === null || changes.length === 0) return
  const instance = await findInstanceById(ctx.database, organizationId, instanceId)
  if (instance?.kind !== 'sandbox') return
  // It was taken over as it came, or has been overtaken by what was done since.
  if (receivedAt !== undefined && instance.state_changed_at >= receivedAt) return
  for (const { phoneNumberId, ...state } of changes) {
    if (phoneNumberId === instance.phone_number_id) await recordState(ctx, organizationId, instanceId, state)
  }
}

/** Reads the changes of connections from a stored callback, in their order. Nothing in it is trusted. */
export function readConnectionChanges(body: Buffer): ConnectionChange[] {
  // Nearly every callback is of messages and would be read for nothing.
  if (!body.includes('"connection"')) return []
  const envelope = asObject(toStorableDeep(JSON.parse(body.toString('utf8'))))
  return asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .filter(({ field }) => field === 'connection')
    .flatMap(({ value }) => readChange(asObject(value)) ?? [])
}

function readChange({ metadata, connection }: Record<string, unknown>): ConnectionChange | null {
  const { state, code, number, name } = asObject(connection)
  if (state !== 'open' && state !== 'close') return null
  const digits = asText(number)
  return {
    phoneNumberId: asText(asObject(metadata).phone_number_id),
    state,
    code: Number.isSafeInteger(code) && Math.abs(code as number) <= MAX_CODE ? (code as number) : null,
    owner: digits !== null && /^[1-9]\d{6,14}$/.test(digits) ? digits : null,
    profileName: asText(name)?.slice(0, MAX_NAME_LENGTH) ?? null,
  }
}
