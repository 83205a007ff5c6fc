import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { innerMessage } from '../../../model/messages/network-message.js'

const FILES: Record<string, { kind: FileKind; cipher: string }> = {
  imageMessage: { kind: 'image', cipher: 'image' },
  videoMessage: { kind: 'video', cipher: 'video' },
  ptvMessage: { kind: 'video', cipher: 'video' },
  audioMessage: { kind: 'audio', cipher: 'audio' },
  documentMessage: { kind: 'document', cipher: 'document' },
  stickerMessage: { kind: 'sticker', cipher: 'sticker' },
}

/** The network's names of polls. */
export const POLLS = ['pollCreationMessage', 'pollCreationMessageV2', 'pollCreationMessageV3', 'pollCreationMessageV5']

export type FileKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

/** The file of a message: its kind, the encryption's name for that kind, and the message's fields. */
export interface NetworkFile {
  kind: FileKind
  cipher: string
  fields: JsonObject
}

/** Converts a message of the network to JSON: bytes become base64, Longs become numbers, unset fields are left out. */
export function toNetworkJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(toNetworkJson)
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (isLong(value)) return toNumber(value)
  const fields = Object.entries(value).filter(([, field]) => isData(field))
  return Object.fromEntries(fields.map(([name, field]) => [name, toNetworkJson(field)]))
}

/** Reads a number, which may be a Long; null if it is not a number. */
export function readNumber(value: unknown): number | null {
  const number = typeof value === 'object' && value !== null && isLong(value) ? toNumber(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

export function fileOfMessage(message: JsonObject): NetworkFile | null {
  const inner = innerMessage(message)
  const name = Object.keys(FILES).find((name) => isJsonObject(inner[name]))
  const file = name === undefined ? undefined : FILES[name]
  return name === undefined || !file ? null : { ...file, fields: asObject(inner[name]) }
}

interface Long {
  low: number
  high: number
  unsigned: boolean
}

function isLong(value: object): value is Long {
  return 'low' in value && 'high' in value && 'unsigned' in value
}

function toNumber({ low, high }: Long): number {
  return high * 2 ** 32 + (low >>> 0)
}

function isData(field: unknown): boolean {
  return field !== undefined && field !== null && typeof field !== 'function'
}
