import type { Context } from '../../../context.js'
import { toStorableDeep } from '../../../lib/text/text.js'

/** Encrypts a command to a device of another process, or its answer; they contain codes and messages. */
export function encryptForProcess(secrets: Context['secrets'], organizationId: string, value: object): Buffer {
  return secrets.seal(JSON.stringify(toStorableDeep(value)), contextOf(organizationId))
}

export function decryptFromProcess<Value>(
  secrets: Context['secrets'],
  organizationId: string,
  encrypted: Buffer,
): Value {
  return JSON.parse(secrets.open(encrypted, contextOf(organizationId))) as Value
}

function contextOf(organizationId: string): string {
  return `${organizationId}:instance.command`
}
