import type { ContactField } from './headings.js'

/**
 * Converts a cell to the value that the field has in a JSON body. A cell that cannot be converted stays text and is
 * refused.
 */
const READERS: Record<ContactField, (cell: string) => unknown> = {
  phone_number: trim,
  chat_id: trim,
  user_id: trim,
  full_name: (cell) => cell,
  email: trim,
  tags: readTags,
  allow_broadcast: readBoolean,
  archived: readBoolean,
  blocked: readBoolean,
  bot_status: (cell) => trim(cell).toLowerCase(),
  source: (cell) => parseJson(cell) ?? cell,
  contact_summary: (cell) => cell,
  opted_out_at: trim,
}

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

/** The values of a row's texts. */
export function readCells(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, READERS[field as ContactField](text)]))
}

/** Tags as one cell, separated by semicolons; as a JSON array if a tag could not be read back from that. */
export function writeTags(tags: readonly string[]): string {
  const plain = tags.join(';')
  const read = readTags(plain)
  const same = Array.isArray(read) && read.length === tags.length && read.every((tag, index) => tag === tags[index])
  return same ? plain : JSON.stringify(tags)
}

/**
 * Tags are separated by commas, semicolons or vertical bars, and each may be quoted (Mailchimp), or given as a JSON
 * array. Google separates them by ` ::: `, and marks its own groups with an asterisk (`* myContacts`).
 */
function readTags(cell: string): unknown {
  const array = cell.startsWith('[') ? parseJson(cell) : undefined
  if (array !== undefined) return array
  return cell
    .split(/[,;|]| ::: /)
    .map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'))
    .filter((tag) => tag !== '' && !tag.startsWith('* '))
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
