import { hash, randomBytes, randomInt } from 'node:crypto'

const pairingCharacters = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'
const pairingLength = 8

/** The text of a QR code that links a device; different each time. */
export function newQrText(): string {
  const parts = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'))
  return `2@${parts.join(',')}`
}

/** Eight characters to type on a phone, without characters that look alike. */
export function newPairingCode(): string {
  return Array.from({ length: pairingLength }, () => pairingCharacters[randomInt(pairingCharacters.length)]).join('')
}

/** The default number of a simulated phone: always the same for the id, and never a magic one. */
export function generatedNumber(phoneNumberId: string): string {
  const drawn = Number.parseInt(hash('sha256', phoneNumberId, 'hex').slice(0, 12), 16)
  return `15551${100_000 + (drawn % 900_000)}`
}
