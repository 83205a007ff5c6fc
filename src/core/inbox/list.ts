import type { Context } from '../../context.js'
import { isUuid } from '../../lib/bytes/id.js'
import { excerpt } from '../../lib/text/text.js'
import type { InboxRow } from '../../model/conversations/inbox.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { countTags, type InboxPosition, listInboxPage, readInboxContacts } from '../../storage/inbox/inbox.js'
import { readContactSearch } from '../contacts/list.js'

/** All views except `archived` leave out archived contacts; `mine`: the contacts assigned to the member. */
export type InboxView = 'all' | 'unread' | 'mine' | 'archived'

/** The filters of an inbox page; null: not filtered. */
export interface InboxRequest {
  view: InboxView
  memberId: string
  tag: string | null
  /** Part of a name or a number. */
  search: string | null
  /** `nextCursor` of the previous page. */
  cursor: string | null
  limit: number
}

/** A page of the inbox; `nextCursor` is null on the last page. Others may be empty. */
export interface InboxListing {
  contacts: InboxRow[]
  nextCursor: string | null
}

/**
 * A page of the organization's contacts, latest activity first. Pages stay stable while messages arrive. Throws
 * invalid_parameter.
 */
export async function listInbox(
  { database }: Pick<Context, 'database'>,
  organization: Organization,
  { view, memberId, tag, search, cursor, limit }: InboxRequest,
): Promise<InboxListing> {
  const filter = {
    archived: view === 'archived',
    unread: view === 'unread',
    assigneeId: view === 'mine' ? memberId : null,
    tag,
    search: search === null ? null : readContactSearch(organization, search),
  }
  const after = cursor === null ? null : readCursor(cursor)
  const { ids, next } = await listInboxPage(database, organization.id, filter, { after, limit })
  const contacts = await readInboxContacts(database, organization.id, ids)
  return { contacts, nextCursor: next && writeCursor(next) }
}

function writeCursor({ activeAt, contactId }: InboxPosition): string {
  return Buffer.from(`${activeAt}/${contactId}`).toString('base64url')
}

function readCursor(cursor: string): InboxPosition {
  const [activeAt = '', contactId = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split('/')
  if (/^\d{1,16}$/.test(activeAt) && isUuid(contactId)) return { activeAt: Number(activeAt), contactId }
  const message = `cursor "${excerpt(cursor)}" is not valid: give the next_cursor of an answer, or leave it out`
  throw new Problem('invalid_parameter', message)
}

const MAX_TAGS = 500

/** The organization's tags with the number of contacts of each, most used first, 500 at most. */
export function listTags(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<{ tag: string; count: number }[]> {
  return countTags(database, organizationId, MAX_TAGS)
}
