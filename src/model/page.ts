import type { PackedIds } from '../lib/bytes/packed-ids.js'
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

/** A position in a list that is ordered by a time and an id. */
export interface ListPosition {
  /** A timestamp as PostgreSQL writes it: a Date would lose its microseconds. */
  at: string
  id: string
}

/** Before all items. */
export const FIRST_POSITION: ListPosition = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

/** How many items lie between two milestones, the remembered positions of a long list. */
export const MILESTONE_STEP = 1_000

/** How many milestones a statement reads, so that none takes long. */
export const MILESTONES_AT_ONCE = 200

/** Where to start reading, and how many items to skip from there. */
export interface Milestone {
  position: ListPosition
  skip: number
}

/** Remembers milestones of long lists, so that a page far from both ends does not cost the reading of half the list. */
export interface Milestones {
  /**
   * Where to start for the item after the first `skip` of a list in ascending order: at the last known milestone, or at
   * the beginning if that is near. `readNext` reads the milestones after a position, some of them or, at the end of the
   * list, none.
   */
  find(
    list: string,
    skip: number,
    readNext: (after: ListPosition) => Promise<readonly ListPosition[]>,
  ): Promise<Milestone>
}

/** The beginning of a list's order. */
export interface ListOrder {
  ids: PackedIds
  /** How many rows were read for it. */
  rowsRead: number
  /** True if the list has no further items. */
  isWhole: boolean
}

/** Remembers the order of long lists without an index, so that a page does not cost the sorting of all before it. */
export interface ListOrders {
  /**
   * The ids of the first `end` items of an organization's list, or more; fewer if the list is shorter. `read` reads
   * them, and more rows than for an order that did not reach so far.
   */
  find(
    organizationId: string,
    list: string,
    end: number,
    read: (readBefore: number) => Promise<ListOrder>,
  ): Promise<PackedIds>
}
