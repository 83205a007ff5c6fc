import type { FileHandle } from 'node:fs/promises'
import { readAt } from './read-at.js'

const HEADER_BYTES = 512
const ENTRY_BYTES = 128
/** Sector numbers from here on are markers, such as the end of a chain. */
const FIRST_MARK = 0xffff_fffa
// Enough for 1 GB; also ends a cyclic chain in a hostile file.
const MAX_FAT_LIST_SECTORS = 128
const MAX_ENTRIES = 16_384

interface Layout {
  file: FileHandle
  sectorBytes: number
  /** The sectors that contain the FAT, in order. */
  fatSectors: number[]
}

interface Entry {
  name: string
  left: number
  right: number
  child: number
}

/**
 * The names of the top-level streams and storages of an OLE compound file ([MS-CFB]). Reads little, however large the
 * file; from a damaged file it returns what it can find. The library cfb reads the whole file into memory, needs three
 * times its size, and throws on damaged ones (docs/decisions/own-readers.md).
 */
export async function topNamesOfCompoundFile(file: FileHandle): Promise<string[]> {
  const header = await readAt(file, 0, HEADER_BYTES)
  if (header.length < HEADER_BYTES) return []
  const sectorBytes = header.readUInt16LE(30) === 12 ? 4_096 : 512
  const layout = { file, sectorBytes, fatSectors: await readFatSectors(file, header, sectorBytes) }
  return namesBelowRoot(await readDirectory(layout, header.readUInt32LE(48)))
}

/** The header lists the first 109 sectors; the others are listed in sectors that are chained by their last number. */
async function readFatSectors(file: FileHandle, header: Buffer, sectorBytes: number): Promise<number[]> {
  const sectors = readNumbers(header.subarray(76))
  let next = header.readUInt32LE(68)
  for (let count = 0; next < FIRST_MARK && count < MAX_FAT_LIST_SECTORS; count++) {
    const numbers = readNumbers(await readAt(file, (next + 1) * sectorBytes, sectorBytes))
    next = numbers.pop() ?? FIRST_MARK
    sectors.push(...numbers)
  }
  return sectors
}

async function readDirectory(layout: Layout, firstSector: number): Promise<Entry[]> {
  const { file, sectorBytes } = layout
  const entries: Entry[] = []
  const seen = new Set<number>()
  let sector = firstSector
  while (sector < FIRST_MARK && !seen.has(sector) && entries.length < MAX_ENTRIES) {
    seen.add(sector)
    const bytes = await readAt(file, (sector + 1) * sectorBytes, sectorBytes)
    if (bytes.length < ENTRY_BYTES) break
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) entries.push(readEntry(bytes.subarray(at)))
    sector = await nextSector(layout, sector)
  }
  return entries
}

async function nextSector({ file, sectorBytes, fatSectors }: Layout, sector: number): Promise<number> {
  const numbersPerSector = sectorBytes / 4
  const fatSector = fatSectors[Math.floor(sector / numbersPerSector)] ?? FIRST_MARK
  if (fatSector >= FIRST_MARK) return FIRST_MARK
  const position = (fatSector + 1) * sectorBytes + (sector % numbersPerSector) * 4
  return readNumbers(await readAt(file, position, 4))[0] ?? FIRST_MARK
}

function readEntry(bytes: Buffer): Entry {
  // The length includes the terminating zero.
  const nameBytes = Math.min(Math.max(bytes.readUInt16LE(64) - 2, 0), 62)
  return {
    name: bytes.toString('utf16le', 0, nameBytes),
    left: bytes.readUInt32LE(68),
    right: bytes.readUInt32LE(72),
    child: bytes.readUInt32LE(76),
  }
}

/** The members of a storage form a binary tree below its `child`. */
function namesBelowRoot(entries: Entry[]): string[] {
  const seen = new Set<number>()
  const waiting = [entries[0]?.child ?? FIRST_MARK]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const entry = entries[id]
    if (!entry || seen.has(id)) continue
    seen.add(id)
    waiting.push(entry.left, entry.right)
  }
  return [...seen].map((id) => entries[id]?.name ?? '')
}

function readNumbers(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4))
}
