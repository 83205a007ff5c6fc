import type { PairingCode } from '../../channels/device.js'
import type { SecretBox } from '../../lib/crypto/secret-box.js'

/** Encrypts a code for an instance.qrcode event and the instance's row, since it gives access to the number. */
export function encryptCode(box: SecretBox, organizationId: string, code: PairingCode): string {
  return box.seal(JSON.stringify(code), contextOf(organizationId)).toString('base64')
}

/** Decrypts a code of an instance.qrcode event or of an instance's row. */
export function decryptCode(box: SecretBox, organizationId: string, encrypted: string | Buffer): PairingCode {
  const bytes = typeof encrypted === 'string' ? Buffer.from(encrypted, 'base64') : encrypted
  return JSON.parse(box.open(bytes, contextOf(organizationId))) as PairingCode
}

function contextOf(organizationId: string): string {
  return `${organizationId}:instance.qrcode`
}
