import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts short secrets (access tokens, session keys) for storage. */
export interface SecretBox {
  /**
   * Encrypts `plain` under the first master key. `context` says where the value belongs
   * (`${organizationId}:upstream.access_token`) and is needed again to open it, so that a sealed value copied into
   * another tenant's row is worth nothing there.
   */
  seal(plain: string, context: string): Buffer
  /** Decrypts what `seal` made with the same `context`; throws an error that says what is wrong when it cannot. */
  open(sealed: Uint8Array, context: string): string
}

interface BoxKey {
  id: Buffer
  key: Buffer
}

// The same few secrets are opened for every message; what was opened once is in this process's memory anyway.
const maxOpened = 1_000
/** What is larger is no credential, and opened once. */
const maxKeptBytes = 4_096
const version = 1
const purpose = 'parley/secret-box/v1'
const cipherName = 'aes-256-gcm'
const keyBytes = 32
const keyIdBytes = 4
const nonceBytes = 12
const tagBytes = 16
const headerBytes = 1 + keyIdBytes + nonceBytes + tagBytes

/**
 * Makes a box of AES-256-GCM over `PARLEY_SECRET`'s master keys (contract 1): the first encrypts, all decrypt, so that
 * a key is changed by putting the new one in front. A sealed value is: version (1 byte), key id (4), nonce (12),
 * tag (16), ciphertext. Throws when there is no master key or an empty one.
 */
export function createSecretBox(masterKeys: readonly string[]): SecretBox {
  const keys = masterKeys.map(deriveBoxKey)
  const [sealingKey] = keys
  if (sealingKey === undefined) throw new Error('A secret box needs at least one master key, and none was given.')
  const opened = new Map<string, string>()
  return {
    seal: (plain, context) => seal(plain, context, sealingKey),
    open: (sealed, context) => {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      if (bytes.length > maxKeptBytes) return open(bytes, context, keys)
      const known = `${context} ${bytes.toString('latin1')}`
      const plain = opened.get(known) ?? open(bytes, context, keys)
      if (opened.size >= maxOpened) opened.clear()
      opened.set(known, plain)
      return plain
    },
  }
}

/** The key's id is derived beside the key, so that it can stand in the open and tells nothing of the key. */
function deriveBoxKey(masterKey: string): BoxKey {
  if (masterKey === '') throw new Error('A master key of a secret box is empty. Give it a long random text.')
  const derived = Buffer.from(hkdfSync('sha256', masterKey, '', purpose, keyBytes + keyIdBytes))
  return { key: derived.subarray(0, keyBytes), id: derived.subarray(keyBytes) }
}

function seal(plain: string, context: string, { id, key }: BoxKey): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
  const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(version), id, nonce, cipher.getAuthTag(), ciphertext])
}

function open(sealed: Buffer, context: string, keys: readonly BoxKey[]): string {
  if (sealed.length < headerBytes || sealed[0] !== version) {
    throw new Error(`The sealed value ${context} is not one of ours: ${sealed.length} bytes, version ${sealed[0]}.`)
  }
  const id = sealed.subarray(1, 1 + keyIdBytes)
  const fitting = keys.filter((candidate) => candidate.id.equals(id))
  if (fitting.length === 0) {
    throw new Error(
      `The sealed value ${context} was encrypted with a PARLEY_SECRET that is not configured any more. ` +
        'Add that secret to PARLEY_SECRET again, after a comma.',
    )
  }
  for (const { key } of fitting) {
    const plain = decrypt(sealed, context, key)
    if (plain !== undefined) return plain
  }
  throw new Error(`The sealed value ${context} was altered, or it was sealed for another place.`)
}

/** Undefined when the tag does not fit: another key with the same id, another context, or altered bytes. */
function decrypt(sealed: Buffer, context: string, key: Buffer): string | undefined {
  const nonceEnd = 1 + keyIdBytes + nonceBytes
  const nonce = sealed.subarray(1 + keyIdBytes, nonceEnd)
  const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(nonceEnd, headerBytes))
  const plain = decipher.update(sealed.subarray(headerBytes))
  try {
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
