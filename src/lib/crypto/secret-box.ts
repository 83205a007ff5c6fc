import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts short secrets (access tokens, session keys) for storage. */
export interface SecretBox {
  /**
   * Encrypts `plain` under the first master key. `context` names the place of the value
   * (`${organizationId}:upstream.access_token`) and is required for decryption, so that a value copied to another
   * tenant's row is useless.
   */
  seal(plain: string, context: string): Buffer
  /** Decrypts a value that `seal` encrypted with the same `context`; throws an error that says what is wrong. */
  open(encrypted: Uint8Array, context: string): string
  /** Whether one of the master keys encrypted the value, as far as it says so itself. */
  knows(encrypted: Uint8Array): boolean
}

interface BoxKey {
  id: Buffer
  key: Buffer
}

// The same few secrets are needed for every message, and a decrypted one is in this process's memory anyway.
const maxOpened = 1_000
/** Larger values are not credentials and are decrypted only once. */
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
 * Creates a box of AES-256-GCM with the master keys of `PARLEY_SECRET`. The first key encrypts, all decrypt, so a key
 * is changed by putting the new one first. Format: version (1 byte), key id (4), nonce (12), tag (16), ciphertext.
 * Throws if there is no master key or an empty one.
 */
export function createSecretBox(masterKeys: readonly string[]): SecretBox {
  const keys = masterKeys.map(deriveBoxKey)
  const [firstKey] = keys
  if (firstKey === undefined) throw new Error('A secret box needs at least one master key, and none was given.')
  const opened = new Map<string, string>()
  return {
    seal: (plain, context) => seal(plain, context, firstKey),
    open: (encrypted, context) => {
      const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
      if (bytes.length > maxKeptBytes) return open(bytes, context, keys)
      const known = `${context} ${bytes.toString('latin1')}`
      const plain = opened.get(known) ?? open(bytes, context, keys)
      if (opened.size >= maxOpened) opened.clear()
      opened.set(known, plain)
      return plain
    },
    knows: (encrypted) => keys.some(({ id }) => id.equals(encrypted.subarray(1, 1 + keyIdBytes))),
  }
}

/** The id is derived together with the key, so it can be public and reveals nothing about the key. */
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

function open(encrypted: Buffer, context: string, keys: readonly BoxKey[]): string {
  if (encrypted.length < headerBytes || encrypted[0] !== version) {
    throw new Error(
      `The encrypted value ${context} has an unknown format: ${encrypted.length} bytes, version ${encrypted[0]}.`,
    )
  }
  const id = encrypted.subarray(1, 1 + keyIdBytes)
  const fitting = keys.filter((candidate) => candidate.id.equals(id))
  if (fitting.length === 0) {
    throw new Error(
      `The value ${context} was encrypted with a PARLEY_SECRET that is no longer configured. ` +
        'Add that secret to PARLEY_SECRET again, after a comma.',
    )
  }
  for (const { key } of fitting) {
    const plain = decrypt(encrypted, context, key)
    if (plain !== undefined) return plain
  }
  throw new Error(`The encrypted value ${context} was altered, or encrypted for another context.`)
}

/** Undefined if the tag does not match: another key with the same id, another context, or altered bytes. */
function decrypt(encrypted: Buffer, context: string, key: Buffer): string | undefined {
  const nonceEnd = 1 + keyIdBytes + nonceBytes
  const nonce = encrypted.subarray(1 + keyIdBytes, nonceEnd)
  const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(encrypted.subarray(nonceEnd, headerBytes))
  const plain = decipher.update(encrypted.subarray(headerBytes))
  try {
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
