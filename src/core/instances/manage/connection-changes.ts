import type { Context } from '../../../context.js'
import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { toStorableDeep } from '../../../lib/text/text.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { type ConnectionState, recordState } from './connection-state.js'

/** A connection change that the simulator reported for one of its phones. */
export interface ConnectionChange extends ConnectionState {
  /** The number of the change. */
  phoneNumberId: string | null
}

/** The field of the simulator's callbacks that reports them. */
export const CONNECTION_FIELD = 'connection'
const MAX_NAME_LENGTH = 200
/** The column is an integer; codes of the network are smaller. */
const MAX_CODE = 999_999

/**
 * Applies connection changes of a stored callback: a simulated phone was linked or unlinked. Other kinds of instances
 * have no such callbacks. With `receivedAt`, later changes are not overwritten.
 */
export async function applyConnectionChanges(
  ctx: Pick<Context, 'database' | 'notifications'>,
  organizationId: string,
  {
    instanceId,
    changes,
    receivedAt,
  }: { instanceId: string | null; changes: readonly ConnectionChange[]; receivedAt?: Date },
): Promise<void> {
  if (instanceId === null || changes.length === 0) return
  const instance = await findInstanceById(ctx.database, organizationId, instanceId)
  if (instance?.kind !== 'sandbox') return
  // It was applied when it arrived, or a later change has replaced it.
  if (receivedAt !== undefined && instance.state_changed_at >= receivedAt) return
  for (const { phoneNumberId, ...state } of changes) {
    if (phoneNumberId === instance.phone_number_id) await recordState(ctx, instance, state)
  }
}

/** Reads the connection changes of a stored callback, in order. Its content is not trusted. */
export function readConnectionChanges(envelope: JsonObject): ConnectionChange[] {
  return asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .filter(({ field }) => field === CONNECTION_FIELD)
    .flatMap(({ value }) => readChange(asObject(toStorableDeep(value))) ?? [])
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
