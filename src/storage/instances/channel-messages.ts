import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import {
  allValues,
  type ChannelFilter,
  type ChannelMessage,
  EVERY,
  FILTERED,
  FOUND_COLUMNS,
  isByTime,
  type PageRange,
  runFromNearerEnd,
} from './messages.js'

/** How many of the newest messages of its time range a filter looks through. */
export const LOOKED_THROUGH = 100_000

/** Conditions that select the channel `$2` for the row `m`; separate texts let the planner choose an index. */
const CHANNEL_CASES = {
  instance: 'm.instance_id = $2::uuid',
  organization: 'm.instance_id IS NULL AND $2::uuid IS NULL',
} as const

type ChannelCase = keyof typeof CHANNEL_CASES

const onChannel = (channelCase: ChannelCase) =>
  `m.organization_id = $1 AND ${CHANNEL_CASES[channelCase]} AND m.seq IS NOT NULL`

/**
 * The order of messages. The channel leads it although it is constant, because the planner does not see that with IS
 * NULL and would sort.
 */
const order = (direction: 'ASC' | 'DESC') => `m.instance_id ${direction}, m.created_at ${direction}, m.id ${direction}`

/** The messages `page` (id, created_at), newest first. */
const shown = (page: string) => `
  SELECT ${FOUND_COLUMNS}
  FROM (${page}) page
  CROSS JOIN LATERAL (
    SELECT * FROM messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = page.id OFFSET 0
  ) m CROSS JOIN LATERAL (
    SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = m.contact_id OFFSET 0
  ) c
  ORDER BY page.created_at DESC, page.id DESC`

/** The messages in the time range `$3` to `$4`. */
const inRange = (channelCase: ChannelCase, columns: string, direction: 'ASC' | 'DESC') => `
  SELECT ${columns} FROM messages m
  WHERE ${onChannel(channelCase)} AND m.created_at BETWEEN $3 AND $4
  ORDER BY ${order(direction)}`

/**
 * The newest of them: as many as are looked through, and one more, which shows that there are older ones. The number in
 * a SELECT hides it from the planner, which then reads along the index until the page is full, instead of sorting all
 * rows.
 */
const newest = (channelCase: ChannelCase, columns: string) =>
  `${inRange(channelCase, columns, 'DESC')} LIMIT (SELECT ${LOOKED_THROUGH + 1})`

const BY_TIME = 'm.id, m.created_at'
const BY_ALL = `${BY_TIME}, m.sender_type, m.gateway_type, m.outcome, m.status`

/** A page that is found in the index alone. */
const pageByTime = (channelCase: ChannelCase, direction: 'ASC' | 'DESC') =>
  statement<ChannelMessage>(
    `channelMessages.page.${channelCase}.time.${direction}`,
    shown(`${inRange(channelCase, BY_TIME, direction)} OFFSET $5 LIMIT $6`),
  )

const onCase = (channelCase: ChannelCase) => ({
  time: {
    count: statement<FilteredCount>(
      `channelMessages.count.${channelCase}.time`,
      `SELECT count(*)::float8 AS total, count(*) > ${LOOKED_THROUGH} AS is_cut FROM (${newest(channelCase, BY_TIME)}) m`,
      { isHeavy: true },
    ),
    newest: pageByTime(channelCase, 'DESC'),
    oldest: pageByTime(channelCase, 'ASC'),
  },
  all: {
    count: statement<FilteredCount>(
      `channelMessages.count.${channelCase}.all`,
      `SELECT (count(*) FILTER (WHERE ${FILTERED}))::float8 AS total, count(*) > ${LOOKED_THROUGH} AS is_cut
       FROM (${newest(channelCase, BY_ALL)}) m`,
      { isHeavy: true },
    ),
    newest: statement<ChannelMessage>(
      `channelMessages.page.${channelCase}.all`,
      shown(`SELECT * FROM (${newest(channelCase, BY_ALL)}) m WHERE ${FILTERED} OFFSET $8 LIMIT $9`),
      { isHeavy: true },
    ),
  },
})

const STATEMENTS = { instance: onCase('instance'), organization: onCase('organization') }

/** How many messages match a filter. */
export interface FilteredCount {
  total: number
  /** True if older messages in the filter's time range were not looked through. */
  is_cut: boolean
}

/** Counts the messages of a channel that match the filter, among the newest `LOOKED_THROUGH` of its time range. */
export async function countChannelMessages(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  filter: ChannelFilter,
): Promise<FilteredCount> {
  const { count } = statementsOf(channelId)[kindOf(filter)]
  const [row] = await db.run(count, [organizationId, channelId, ...valuesOf(filter)])
  return row as FilteredCount
}

/** A page of these messages, newest first. */
export function listChannelMessages(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  { filter, skip, limit }: { filter: ChannelFilter; skip: number; limit: number },
): Promise<ChannelMessage[]> {
  const { newest } = statementsOf(channelId)[kindOf(filter)]
  return db.run(newest, [organizationId, channelId, ...valuesOf(filter), skip, limit])
}

/** A page of all messages of a channel, newest first; costs the reading of all between it and the nearer end. */
export function listWholeChannel(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  range: PageRange,
): Promise<ChannelMessage[]> {
  return runFromNearerEnd(db, statementsOf(channelId).time, [organizationId, channelId, ...valuesOf(EVERY)], range)
}

function statementsOf(channelId: string | null) {
  return STATEMENTS[channelId === null ? 'organization' : 'instance']
}

function kindOf(filter: ChannelFilter): 'time' | 'all' {
  return isByTime(filter) ? 'time' : 'all'
}

function valuesOf(filter: ChannelFilter): unknown[] {
  return isByTime(filter) ? allValues(filter).slice(0, 2) : allValues(filter)
}
