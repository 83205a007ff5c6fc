import { Type } from 'typebox'
import { excerpt } from '../../../lib/text/text.js'
import { Maybe, RequiredText } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'

export const MAX_ID = 512
const MAX_JID = 128
/** Maximum size of a page. Larger values are reduced to it. */
export const MAX_PAGE = 1_000
/** Maximum page number. To get older rows, clients filter by time. */
const MAX_PAGE_NUMBER = 10_000_000

export const Id = Type.String({ maxLength: MAX_ID, description: "The message's id: WhatsApp's or Parley's" })
export const Jid = Type.String({ maxLength: MAX_JID, description: 'A JID, or digits with the country code' })
export const RequiredId = RequiredText(MAX_ID)
export const RequiredJid = RequiredText(MAX_JID)

/** A number up to `most`; 0 means the default, as if not given. */
export const Counted = (most: number, usual: number, what: string) =>
  Maybe(Type.Integer({ minimum: 0, default: usual, description: `${what}, at most ${most}; 0: ${usual}` }))

/** The fields of pagination. */
export const paging = (rows: number) => ({
  offset: Counted(MAX_PAGE, rows, 'Page size'),
  page: Counted(MAX_PAGE_NUMBER, 1, 'Page number'),
})

/** Reads the requested page. `rows`: the default size. */
export function readPage({ offset, page }: { offset?: number | null; page?: number | null }, rows: number) {
  return { page: Math.min(page || 1, MAX_PAGE_NUMBER), limit: Math.min(offset || rows, MAX_PAGE) }
}

const Moment = Type.Union([Type.String({ maxLength: 40 }), Type.Integer({ minimum: 0 })], {
  description: 'ISO 8601, or Unix seconds',
})

/** A range of time. */
export const Timestamps = Maybe(Type.Object({ gte: Maybe(Moment), lte: Maybe(Moment) }))

/** A range of time as given in a body. */
type GivenTimestamps = { gte?: string | number | null; lte?: string | number | null } | null | undefined

/** Reads a range of time. Unix seconds as the end include the whole second. Throws invalid_field. */
export function readTimestamps(range: GivenTimestamps): { from: Date | null; to: Date | null } {
  return { from: readMoment('gte', range?.gte, 0), to: readMoment('lte', range?.lte, 999) }
}

function readMoment(name: string, value: string | number | null | undefined, endMs: number): Date | null {
  if (value === null || value === undefined || value === '') return null
  const isSeconds = typeof value === 'number' || /^\d{1,12}$/.test(value)
  const at = new Date(isSeconds ? Number(value) * 1_000 + endMs : value)
  // The years that the database accepts too. An invalid date has NaN as its year.
  const year = at.getUTCFullYear()
  if (year >= 1 && year < 10_000) return at
  throw new Problem(
    'invalid_field',
    `where.messageTimestamp.${name} "${excerpt(String(value))}" is not a valid time: use ISO 8601, or Unix seconds`,
  )
}

/** Null for a text that is missing or empty. */
export function given(text: string | null | undefined): string | null {
  return text || null
}
