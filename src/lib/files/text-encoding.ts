import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** How spreadsheets and other programs encode text. */
type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** What the text of a file is, or why it is none; `row`: of the first wrong byte. */
export type EncodingOutcome = { outcome: 'utf8' } | { outcome: 'not_text' } | { outcome: 'damaged'; row: number }

const HEAD_BYTES = 65_536
const MARKS: [mark: string, encoding: TextEncoding][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
]
/** Of every second byte, the share that is zero in plain UTF-16: digits, separators and Latin letters. */
const ZEROS_OF_UTF16 = 0.3
/** What the bytes 0x80 to 0x9f are in Windows-1252; the others are as in Latin-1. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/**
 * Makes sure that a text file is UTF-8: rewrites one in UTF-16 or Windows-1252 (and so Latin-1), chunk by chunk, by way
 * of the unused path `spare`. A file that is UTF-8 but for a few bytes is damaged, and stays as it is.
 */
export async function makeUtf8(path: string, isUtf8: boolean, spare: string): Promise<EncodingOutcome> {
  const head = await readHead(path)
  const mark = MARKS.find(([bytes]) => head.toString('hex').startsWith(bytes))?.[1]
  const encoding = mark ?? plainUtf16(head) ?? (isUtf8 ? 'utf-8' : 'windows-1252')
  if (encoding === 'utf-8' && isUtf8) return { outcome: 'utf8' }
  if (encoding === 'windows-1252' && head.some(isNoText)) return { outcome: 'not_text' }
  if (encoding === 'utf-8' || encoding === 'windows-1252') {
    const { row, isMostlyUtf8 } = await findDamage(path)
    if (isMostlyUtf8 || encoding === 'utf-8') return { outcome: 'damaged', row }
  }
  await pipeline(createReadStream(path), decode(encoding), createWriteStream(spare, { flags: 'wx', mode: 0o600 }))
  await rename(spare, path)
  return { outcome: 'utf8' }
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Workbooks and pictures have such bytes; texts have tabs, line ends and, from DOS, an end of file. */
function isNoText(byte: number): boolean {
  return byte < 9 || (byte > 13 && byte < 32 && byte !== 26)
}

/** UTF-16 without a mark: one byte of each pair is often zero, the other one never. */
function plainUtf16(head: Buffer): TextEncoding | null {
  const zeros = [0, 0]
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] as number) + 1
  })
  const [even = 0, odd = 0] = zeros
  const enough = Math.max(1, (head.length / 2) * ZEROS_OF_UTF16)
  if (even === 0 && odd >= enough) return 'utf-16le'
  return odd === 0 && even >= enough ? 'utf-16be' : null
}

/**
 * The row of the first byte that is not UTF-8, and whether the file has as many characters of UTF-8. Read
 * in another encoding, each of these would be two wrong letters.
 */
async function findDamage(path: string): Promise<{ row: number; isMostlyUtf8: boolean }> {
  const decoder = new TextDecoder('utf-8')
  let wrong = 0
  let right = 0
  let row = 1
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true })
    const first = wrong === 0 ? text.indexOf('\ufffd') : 0
    if (wrong === 0) row += text.slice(0, first === -1 ? text.length : first).split('\n').length - 1
    wrong += text.match(/\ufffd/g)?.length ?? 0
    right += text.match(/[\u0080-\ufffc]/g)?.length ?? 0
  }
  return { row, isMostlyUtf8: right > 0 && right >= wrong }
}

function decode(encoding: TextEncoding) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
    const decoder = encoding === 'windows-1252' ? null : new TextDecoder(encoding)
    for await (const chunk of chunks) yield decoder ? decoder.decode(chunk, { stream: true }) : fromWindows(chunk)
    if (decoder) yield decoder.decode()
  }
}

function fromWindows(chunk: Buffer): string {
  return chunk
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80))
}
