import { type TSchema, Type } from 'typebox'
import { excerpt } from '../../../lib/text/text.js'
import { Problem } from '../../../model/problem.js'

export const MAX_ID = 512
const MAX_JID = 128
/** The most that a page has; who asks for more gets as many. */
export const MAX_PAGE = 1_000
/** The most that is looked behind: pages further on are asked for by time. */
const MAX_PAGE_NUMBER = 10_000_000

/** What may be left out, and be null, which some clients write for it. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

export const Id = Type.String({ maxLength: MAX_ID, description: "The message's id: WhatsApp's or Parley's" })
export const Jid = Type.String({ maxLength: MAX_JID, description: 'A JID, or digits with the country code' })
/** Must be there. */
export const NeededId = Type.String({ minLength: 1, maxLength: MAX_ID, 'x-missing': true })
export const NeededJid = Type.String({ minLength: 1, maxLength: MAX_JID, 'x-missing': true })

/** A number that is no more than `most`; 0 says the same as nothing. */
export const Counted = (most: number, usual: number, what: string) =>
  Maybe(Type.Integer({ minimum: 0, default: usual, description: `${what}, at most ${most}; 0: ${usual}` }))

/** Which page. */
export const paging = (rows: number) => ({
  offset: Counted(MAX_PAGE, rows, 'Page size'),
  page: Counted(MAX_PAGE_NUMBER, 1, 'Page number'),
})

/** Reads which page is asked for, of so many `rows` where that is left open. */
export function readPage({ offset, page }: { offset?: number | null; page?: number | null }, rows: number) {
  return { page: Math.min(page || 1, MAX_PAGE_NUMBER), limit: Math.min(offset || rows, MAX_PAGE) }
}

const Moment = Type.Union([Type.String({ maxLength: 40 }), Type.Integer({ minimum: 0 })], {
  description: 'ISO 8601, or Unix seconds',
})

/** A range of time. */
export const Timestamps = Maybe(Type.Object({ gte: Maybe(Moment), lte: Maybe(Moment) }))

/** How a range of time comes. */
type GivenTimestamps = { gte?: string | number | null; lte?: string | number | null } | null | undefined

/** Reads a range of time; a second is in it as a whole. Throws invalid_field. */
export function readTimestamps(range: GivenTimestamps): { from: Date | null; to: Date | null } {
  return { from: readMoment('gte', range?.gte, 0), to: readMoment('lte', range?.lte, 999) }
}

function readMoment(name: string, value: string | number | null | undefined, endMs: number): Date | null {
  if (value === null || value === undefined || value === '') return null
  const isSeconds = typeof value === 'number' || /^\d{1,12}$/.test(value)
  const at = new Date(isSeconds ? Number(value) * 1_000 + endMs : value)
  // Years that the database knows as well; that of a time that is none is none either.
  const year = at.getUTCFullYear()
  if (year >= 1 && year < 10_000) return at
  throw new Problem(
    'invalid_field',
    `where.messageTimestamp.${name} "${excerpt(String(value))}" is no time: give ISO 8601, or Unix seconds`,
  )
}

/** Null for what was left out or is empty. */
export function given(text: string | null | undefined): string | null {
  return text || null
}
