import { unguardFormula } from '../../lib/text/formula-guard.js'

/** The fields that a file may have for a contact. */
export type ContactColumn = keyof typeof READERS

/** The field of each column; null for an unknown column. */
export type ContactColumns = readonly (ContactColumn | null)[]

/**
 * Converts a cell to the value that the field has in a JSON body. A cell that cannot be converted stays text and is
 * refused.
 */
const READERS = {
  phone_number: trim,
  chat_id: trim,
  full_name: (cell: string) => cell,
  email: trim,
  tags: readTags,
  allow_broadcast: readBoolean,
  archived: readBoolean,
  blocked: readBoolean,
  bot_status: (cell: string) => trim(cell).toLowerCase(),
  source: (cell: string) => parseJson(cell) ?? cell,
  contact_summary: (cell: string) => cell,
  opted_out_at: trim,
}

const SYNONYMS: Record<string, ContactColumn> = {
  phone: 'phone_number',
  mobile: 'phone_number',
  mobile_phone: 'phone_number',
  chatnumber: 'chat_id',
  name: 'full_name',
  contactname: 'full_name',
  'e-mail': 'email',
  e_mail: 'email',
  email_address: 'email',
}

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

/** Which of the wanted fields a header names, ignoring case; spaces count as underscores. */
export function readHeader(cells: readonly string[], fields: readonly ContactColumn[]): ContactColumns {
  return cells.map((cell) => {
    const name = trim(unguardFormula(cell)).toLowerCase().replaceAll(/\s+/g, '_')
    const column = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : name
    return fields.find((one) => one === column) ?? null
  })
}

/** The fields of one row; empty cells are left out. */
export function readCells(columns: ContactColumns, cells: readonly string[]): Record<string, unknown> {
  const fields = columns.flatMap((column, index) => {
    const cell = unguardFormula(cells[index] ?? '')
    return column === null || cell === '' ? [] : [[column, READERS[column](cell)]]
  })
  return Object.fromEntries(fields)
}

/** Tags as one cell, separated by semicolons; as a JSON array if a tag could not be read back from that. */
export function writeTags(tags: readonly string[]): string {
  const plain = tags.join(';')
  const read = readTags(plain)
  const same = Array.isArray(read) && read.length === tags.length && read.every((tag, index) => tag === tags[index])
  return same ? plain : JSON.stringify(tags)
}

/** Tags are separated by semicolons or vertical bars, or given as a JSON array. */
function readTags(cell: string): unknown {
  const array = cell.startsWith('[') ? parseJson(cell) : undefined
  if (array !== undefined) return array
  return cell
    .split(/[;|]/)
    .map(trim)
    .filter((tag) => tag !== '')
}

function readBoolean(cell: string): unknown {
  const word = trim(cell).toLowerCase()
  return Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : cell
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function trim(cell: string): string {
  return cell.trim()
}
