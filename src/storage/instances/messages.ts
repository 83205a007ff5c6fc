import type { Queryable } from '../../database/pool.js'
import { ofOrganization, type Statement, statement } from '../../database/statement.js'
import { isUuid } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { GatewayStatus } from '../../model/instances/gateway-message.js'
import type { Message } from '../../model/messages/message.js'
import { MESSAGE_COLUMNS } from '../messages/messages.js'

/** A message with the columns of its contact. */
export type ChannelMessage = Message & Pick<Contact, 'chat_id' | 'phone_number' | 'network_id' | 'full_name'>

/** Filters messages of a channel; null: no filter. */
export interface ChannelFilter {
  /** Both ends are included. */
  from: Date | null
  to: Date | null
  fromMe: boolean | null
  /** The gateway's name of the type. */
  messageType: string | null
  status: GatewayStatus | null
}

/** The gateway's status of row `m`, as in model/instances/gateway-message. */
const STATUS = `CASE
    WHEN m.outcome IS NOT NULL THEN 'PENDING'
    WHEN m.status = 'read' THEN 'READ'
    WHEN m.sender_type = 'user-chat' OR m.status = 'delivered' THEN 'DELIVERY_ACK'
    WHEN m.status = 'failed' THEN 'ERROR'
    ELSE 'SERVER_ACK'
  END`

/** All filters of a message `m`, in `$3` to `$7`. */
export const FILTERED = `m.created_at BETWEEN $3 AND $4
       AND ($5::boolean IS NULL OR (m.sender_type IN ('bot-chat', 'human-chat')) = $5)
       AND ($6::text IS NULL OR m.gateway_type = $6)
       AND ($7::text IS NULL OR ${STATUS} = $7)`

/** The columns of a message `m` with its contact `c`. */
export const FOUND_COLUMNS = `${MESSAGE_COLUMNS}, c.chat_id, c.phone_number, c.network_id, c.full_name`

/** Which parameters of a statement have the contact and the page. */
interface PageParameters {
  contact: string
  skip: string
  limit: string
}

const pageOfConversation = (
  name: string,
  where: string,
  { contact, skip, limit }: PageParameters,
  direction: 'ASC' | 'DESC',
) =>
  statement<ChannelMessage>(
    `instanceMessages.pageConversation.${name}.${direction}`,
    `SELECT ${FOUND_COLUMNS}
     FROM (SELECT m.seq FROM messages m WHERE ${where} ORDER BY m.seq ${direction} OFFSET ${skip} LIMIT ${limit}) page
     CROSS JOIN LATERAL (
       SELECT * FROM messages
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = ${contact} AND seq = page.seq
       OFFSET 0
     ) m
     JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     ORDER BY page.seq DESC`,
  )

/** Messages of one contact, in the order of the conversation. */
const ofConversation = (name: string, where: string, parameters: PageParameters) => ({
  count: statement<{ total: number }>(
    `instanceMessages.countConversation.${name}`,
    `SELECT count(*)::float8 AS total FROM messages m WHERE ${where}`,
  ),
  newest: pageOfConversation(name, where, parameters, 'DESC'),
  oldest: pageOfConversation(name, where, parameters, 'ASC'),
})

const inConversation = (contact: string) =>
  `m.organization_id = $1 AND m.contact_id = ${contact} AND m.seq IS NOT NULL AND m.instance_id IS NOT DISTINCT FROM $2::uuid`

// Finds the page by sequence numbers, so every page costs the same.
const pageOfWhole = statement<ChannelMessage>(
  'instanceMessages.pageOfWholeConversation',
  `SELECT ${FOUND_COLUMNS}
   FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   WHERE ${inConversation('$3')} AND m.seq > $4 AND m.seq <= $5
   ORDER BY m.seq DESC`,
)

/** In how many messages of a conversation, of all channels, the newest that was written on one is looked for. */
const WRITTEN_AMONG = 1_000

const newestWritten = statement<ChannelMessage>(
  'instanceMessages.newestWritten',
  `SELECT ${FOUND_COLUMNS}
   FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   WHERE ${inConversation('$3')} AND m.seq > $4 AND m.sender_type = 'user-chat'
   ORDER BY m.seq DESC
   LIMIT 1`,
)

const CONVERSATION_STATEMENTS = {
  every: ofConversation('every', inConversation('$3'), { contact: '$3', skip: '$4', limit: '$5' }),
  filtered: ofConversation('filtered', `${inConversation('$8')} AND ${FILTERED}`, {
    contact: '$8',
    skip: '$9',
    limit: '$10',
  }),
}

// Includes reactions; edits and revocations show on the message that they change.
const findByKey = statement<ChannelMessage>(
  'instanceMessages.findByKey',
  `SELECT ${FOUND_COLUMNS}
   FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   WHERE m.organization_id = $1 AND (m.upstream_id = $8 OR m.id = $9)
     AND m.instance_id IS NOT DISTINCT FROM $2::uuid AND m.message_type NOT IN ('edit', 'revoke') AND ${FILTERED}`,
)

const findByKeys = statement<ChannelMessage>(
  'instanceMessages.findByKeys',
  `SELECT ${FOUND_COLUMNS}
   FROM (
     SELECT id FROM messages WHERE organization_id = $1 AND upstream_id = ANY ($3::text[])
     UNION
     SELECT id FROM messages WHERE organization_id = $1 AND id = ANY ($4::uuid[])
   ) wanted
   JOIN messages m ON m.organization_id = $1 AND m.id = wanted.id
   JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   WHERE m.instance_id IS NOT DISTINCT FROM $2::uuid AND m.message_type NOT IN ('edit', 'revoke')`,
)

// The first and last index entries show whether there is a channel in between.
const isSole = statement<{ is_sole: boolean }>(
  'instanceMessages.isSole',
  `SELECT (
     SELECT instance_id FROM messages WHERE organization_id = $1 AND seq IS NOT NULL ORDER BY instance_id, created_at LIMIT 1
   ) IS NOT DISTINCT FROM $2::uuid AND (
     SELECT instance_id FROM messages WHERE organization_id = $1 AND seq IS NOT NULL
     ORDER BY instance_id DESC, created_at DESC LIMIT 1
   ) IS NOT DISTINCT FROM $2::uuid AS is_sole`,
)

/** True if the organization has messages of this channel only. */
export async function isOnlyChannel(db: Queryable, organizationId: string, channelId: string | null): Promise<boolean> {
  const [row] = await db.run(isSole, [organizationId, channelId])
  return row?.is_sole === true
}

/** The offset and size of a page, counted from the newest message, and the total. */
export interface PageRange {
  skip: number
  limit: number
  total: number
}

/** Runs the statement that starts at the nearer end; its last two parameters are offset and limit. */
export function runFromNearerEnd(
  db: Queryable,
  { newest, oldest }: { newest: Statement<ChannelMessage>; oldest: Statement<ChannelMessage> },
  values: readonly unknown[],
  { skip, limit, total }: PageRange,
): Promise<ChannelMessage[]> {
  if (skip <= total / 2) return db.run(newest, [...values, skip, limit])
  const end = Math.min(skip + limit, total)
  return db.run(oldest, [...values, total - end, Math.max(end - skip, 0)])
}

/** Counts the messages of a contact on a channel that match the filter. */
export async function countConversationMessages(
  db: Queryable,
  { organization_id, id }: Pick<Contact, 'organization_id' | 'id'>,
  channelId: string | null,
  filter: ChannelFilter,
): Promise<number> {
  const [row] = isEvery(filter)
    ? await db.run(CONVERSATION_STATEMENTS.every.count, [organization_id, channelId, id])
    : await db.run(CONVERSATION_STATEMENTS.filtered.count, [organization_id, channelId, ...allValues(filter), id])
  return row?.total ?? 0
}

/** A page of the messages of a contact on a channel that match the filter, newest first; read from the nearer end. */
export function listConversationMessages(
  db: Queryable,
  { organization_id, id }: Pick<Contact, 'organization_id' | 'id'>,
  channelId: string | null,
  { filter, ...range }: PageRange & { filter: ChannelFilter },
): Promise<ChannelMessage[]> {
  const channel = [organization_id, channelId]
  return isEvery(filter)
    ? runFromNearerEnd(db, CONVERSATION_STATEMENTS.every, [...channel, id], range)
    : runFromNearerEnd(db, CONVERSATION_STATEMENTS.filtered, [...channel, ...allValues(filter), id], range)
}

/** A page of a conversation that is on one channel only, newest first. */
export function listWholeConversation(
  db: Queryable,
  { organization_id, id, last_seq: last }: Pick<Contact, 'organization_id' | 'id' | 'last_seq'>,
  channelId: string | null,
  { skip, limit }: Pick<PageRange, 'skip' | 'limit'>,
): Promise<ChannelMessage[]> {
  return db.run(pageOfWhole, [organization_id, channelId, id, last - skip - limit, last - skip])
}

/** The newest message of a contact on a channel; null if there is none. */
export async function findNewestOfConversation(
  db: Queryable,
  { organization_id, id }: Pick<Contact, 'organization_id' | 'id'>,
  channelId: string | null,
): Promise<ChannelMessage | null> {
  const [newest] = await db.run(CONVERSATION_STATEMENTS.every.newest, [organization_id, channelId, id, 0, 1])
  return newest ?? null
}

/**
 * The newest message that a contact wrote on a channel, not a call or another notice; null if there is none among the
 * last `WRITTEN_AMONG` of the conversation.
 */
export async function findNewestWritten(
  db: Queryable,
  { organization_id, id, last_seq: last }: Pick<Contact, 'organization_id' | 'id' | 'last_seq'>,
  channelId: string | null,
): Promise<ChannelMessage | null> {
  const [newest] = await db.run(newestWritten, [organization_id, channelId, id, last - WRITTEN_AMONG])
  return newest ?? null
}

/** The message of a channel with this id, ours or the network's; null if none matches. */
export async function findChannelMessage(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  { keyId, filter = EVERY }: { keyId: string; filter?: ChannelFilter },
): Promise<ChannelMessage | null> {
  const values = [organizationId, channelId, ...allValues(filter), keyId, isUuid(keyId) ? keyId : null]
  const [row] = await db.run(findByKey, values)
  return row ?? null
}

/** The messages of a channel with these ids, ours or the network's, in any order; others are left out. */
export function findChannelMessages(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  keyIds: readonly string[],
): Promise<ChannelMessage[]> {
  return db.run(findByKeys, [organizationId, channelId, keyIds, keyIds.filter(isUuid)])
}

/** Matches everything. */
export const EVERY: ChannelFilter = { from: null, to: null, fromMe: null, messageType: null, status: null }

/** True if the filter matches everything. */
export function isEvery(filter: ChannelFilter): boolean {
  return isByTime(filter) && filter.from === null && filter.to === null
}

/** True if the filter asks for no more than the time, which an index has. */
export function isByTime({ fromMe, messageType, status }: ChannelFilter): boolean {
  return fromMe === null && messageType === null && status === null
}

/** The values of FILTERED. */
export function allValues({ from, to, fromMe, messageType, status }: ChannelFilter): unknown[] {
  return [from ?? '-infinity', to ?? 'infinity', fromMe, messageType, status]
}
