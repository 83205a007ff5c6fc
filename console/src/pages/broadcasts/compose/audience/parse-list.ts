import type { TemplateForm } from '../../../../shared/templates/template-form.js'
import { readRows } from './read-rows.js'

/** A recipient, as POST /broadcasts takes it. */
export interface ListedRecipient {
  chatNumber: string
  name?: string
  bodyParameters?: Record<string, string>
  buttonParameters?: Record<string, string>
}

export interface ParsedList {
  recipients: ListedRecipient[]
  /** The fields of the draft that columns fill, such as `body.discount`. */
  columns: string[]
  /** Columns that match no variable of the template. */
  ignored: string[]
}

const NUMBERS = ['phone', 'phone_number', 'chatnumber', 'chat_number', 'number', 'mobile', 'whatsapp']
const NUMEROS = ['telefone', 'celular', 'numero', 'número', 'fone', 'contato']
const NAMES = ['name', 'full_name', 'nome', 'nome completo']

/** Minimum number of digits of a phone number. */
const MIN_DIGITS = 6

/**
 * Parses a list of numbers, one per row: alone, followed by a name, or under a header row. Columns named after a
 * variable or button of the template hold a value for each recipient.
 */
export function parseList(text: string, form: TemplateForm | null): ParsedList {
  const rows = readRows(text)
  const [first = []] = rows
  if (first.some(isNumber)) {
    const recipients = rows.map(([chatNumber = '', name = '']) => ({ chatNumber, ...(name !== '' && { name }) }))
    return { recipients, columns: [], ignored: [] }
  }
  return readTable(first, rows.slice(1), form)
}

function readTable(headings: string[], rows: string[][], form: TemplateForm | null): ParsedList {
  const folded = headings.map((heading) => heading.toLowerCase())
  const numberAt = Math.max(
    0,
    folded.findIndex((heading) => [...NUMBERS, ...NUMEROS].includes(heading)),
  )
  const nameAt = folded.findIndex((heading) => NAMES.includes(heading))
  const body = columnsOf(
    folded,
    (form?.body.variables ?? []).map((name) => [name, [name]]),
  )
  const buttons = columnsOf(
    folded,
    (form?.buttons ?? []).flatMap(({ parameter, text }) =>
      parameter === null ? [] : [[parameter, [parameter, text]]],
    ),
  )
  const used = new Set([numberAt, nameAt, ...body.values(), ...buttons.values()])
  return {
    recipients: rows.map((row) => {
      const name = row[nameAt] ?? ''
      const ofBody = pick(row, body)
      const ofButtons = pick(row, buttons)
      return {
        chatNumber: row[numberAt] ?? '',
        ...(name !== '' && { name }),
        ...(ofBody && { bodyParameters: ofBody }),
        ...(ofButtons && { buttonParameters: ofButtons }),
      }
    }),
    columns: [
      ...Array.from(body.keys(), (name) => `body.${name}`),
      ...Array.from(buttons.keys(), (name) => `buttons.${name}`),
    ],
    ignored: headings.filter((heading, at) => heading !== '' && !used.has(at)),
  }
}

/** The paths of the template's variables in a draft, by name. */
function columnsOf(headings: string[], variables: [name: string, alsoCalled: string[]][]): Map<string, number> {
  return new Map(
    variables.flatMap(([name, alsoCalled]): [string, number][] => {
      const folded = new Set(alsoCalled.map((called) => called.toLowerCase()))
      const at = headings.findIndex((heading) => folded.has(heading))
      return at === -1 ? [] : [[name, at]]
    }),
  )
}

function pick(row: string[], columns: Map<string, number>): Record<string, string> | null {
  const values = Array.from(columns, ([name, at]) => [name, row[at] ?? '']).filter(([, value]) => value !== '')
  return values.length === 0 ? null : Object.fromEntries(values)
}

function isNumber(cell: string): boolean {
  return !/\p{L}/u.test(cell) && cell.replace(/\D/g, '').length >= MIN_DIGITS
}
