import type { PairingCode } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Instance, InstanceState } from '../../../model/instances/instance.js'
import { changeInstanceState, showInstanceCode } from '../../../storage/instances/instances.js'

/** What is known of a connection now; what is left out stays as it was. */
export interface ConnectionState {
  state: InstanceState
  /** The network's code of a close. */
  code?: number | null
  /** Digits of the number. */
  owner?: string | null
  profileName?: string | null
  profilePictureUrl?: string | null
}

/**
 * Keeps the state of an instance's connection; a change raises an event, and webhooks are composed with it from then on. `holder`:
 * nothing is kept where that process does not hold the instance.
 */
export async function recordState(
  ctx: Pick<Context, 'database' | 'notifications'>,
  organizationId: string,
  instanceId: string,
  { state, code = null, owner = null, profileName = null, profilePictureUrl = null }: ConnectionState,
  holder: number | null = null,
): Promise<void> {
  const change = { state, code, owner, profileName, profilePictureUrl }
  if (!(await changeInstanceState(ctx.database, organizationId, instanceId, change, newId(), holder))) return
  ctx.notifications.send({ topic: 'webhooks', organizationId })
}

/** Keeps that an instance shows a code; webhooks are told of it. Whoever has it may link the number, so it is sealed. `holder` as above. */
export async function recordCode(
  ctx: Pick<Context, 'database' | 'secrets'>,
  organizationId: string,
  instanceId: string,
  code: PairingCode,
  holder: number | null = null,
): Promise<void> {
  const sealed = ctx.secrets.seal(JSON.stringify(code), codeContext(organizationId)).toString('base64')
  await showInstanceCode(ctx.database, organizationId, instanceId, { count: code.count, sealed }, newId(), holder)
}

/** A code out of an event of kind instance.qrcode, or out of an instance's row. */
export function decryptCode(secrets: Context['secrets'], organizationId: string, sealed: string | Buffer): PairingCode {
  const bytes = typeof sealed === 'string' ? Buffer.from(sealed, 'base64') : sealed
  return JSON.parse(secrets.open(bytes, codeContext(organizationId))) as PairingCode
}

/** The newest code that an instance shows, wherever it runs; null when it shows none. */
export function newestCode({ secrets }: Pick<Context, 'secrets'>, instance: Instance): PairingCode | null {
  const { organization_id, state, code } = instance
  return state === 'connecting' && code !== null ? decryptCode(secrets, organization_id, code) : null
}

function codeContext(organizationId: string): string {
  return `${organizationId}:instance.qrcode`
}
