import type { PairingCode } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import type { Instance, InstanceKey, InstanceState } from '../../../model/instances/instance.js'
import { changeInstanceState, showInstanceCode } from '../../../storage/instances/instances.js'
import { decryptCode, encryptCode } from '../../webhooks/pairing-code.js'

/** A new state of a connection; absent fields stay as they were. */
export interface ConnectionState {
  state: InstanceState
  /** The network's code of a disconnection. */
  code?: number | null
  /** The digits of the number. */
  owner?: string | null
  profileName?: string | null
  profilePictureUrl?: string | null
}

/**
 * Records the state of an instance's connection; a change raises an event, and webhooks include it from then on. With
 * `holder`, it is recorded only if that process holds the lease.
 */
export async function recordState(
  ctx: Pick<Context, 'database' | 'notifications'>,
  { organization_id: organizationId, id }: InstanceKey,
  { state, code = null, owner = null, profileName = null, profilePictureUrl = null }: ConnectionState,
  holder: number | null = null,
): Promise<void> {
  const change = { state, code, owner, profileName, profilePictureUrl, holder }
  if (!(await changeInstanceState(ctx.database, organizationId, id, change))) return
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}

/** Records a code that an instance shows, encrypted, and raises an event. `holder` as in recordState. */
export async function recordCode(
  ctx: Pick<Context, 'database' | 'secrets'>,
  { organization_id: organizationId, id }: InstanceKey,
  code: PairingCode,
  holder: number | null = null,
): Promise<void> {
  const sealed = encryptCode(ctx.secrets, organizationId, code)
  await showInstanceCode(ctx.database, organizationId, id, { count: code.count, sealed, holder })
}

/** The newest code that an instance shows, in any process; null if it shows none. */
export function newestCode({ secrets }: Pick<Context, 'secrets'>, instance: Instance): PairingCode | null {
  const { organization_id, state, code } = instance
  return state === 'connecting' && code !== null ? decryptCode(secrets, organization_id, code) : null
}
