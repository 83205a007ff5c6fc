import { Problem } from './problem.js'

/** How many items the pages of a list reach if each page costs the reading of all items before it. */
export const MAX_DEPTH = 10_000

/** How far totals of such lists are counted: a total of this means that there are at least as many. */
export const COUNT_LIMIT = MAX_DEPTH + 1

/** A page of a list; the first is 1. */
export interface PageRequest {
  page: number
  limit: number
}

/**
 * Reads a page of such a list. A page past the end is empty. Throws invalid_parameter if the list has or may have the
 * page but it is too deep; `instead` says what to do then. The last page that can be read ends at `MAX_DEPTH`.
 */
export async function readBoundedPage<Found extends { total: number }>(
  { page, limit }: PageRequest,
  instead: string,
  read: (skip: number, limit: number) => Promise<Found>,
): Promise<Found> {
  const skip = (page - 1) * limit
  if (skip < MAX_DEPTH) return read(skip, Math.min(limit, MAX_DEPTH - skip))
  const none = await read(0, 0)
  if (skip < none.total || none.total === COUNT_LIMIT) throw tooDeep(page, instead)
  return none
}

/** The problem of a page that is too deep. */
export function tooDeep(page: number, instead: string): Problem {
  return new Problem(
    'invalid_parameter',
    `page ${page} is too deep: the pages of this list reach its first ${MAX_DEPTH} items. ${instead}`,
  )
}
