import { ofOrganization } from '../../database/statement.js'
import { enqueueIndexing } from '../conversations/search.js'
import { countOnChannels } from '../counts/channels.js'

/**
 * The CTEs that update derived data after numbered messages were inserted: the counts of their channels, the last
 * activity of their contacts, and the index of long conversations. `rows` is a SELECT of their organization_id,
 * contact_id, instance_id and seq.
 */
export function trackNewMessages(rows: string): string {
  return `new_messages AS (
     ${rows}
   ), counted_on_channels AS (
     ${countOnChannels('new_messages', 'count(*)')}
   ), active AS (
     UPDATE contact_activity a SET active_at = greatest(a.active_at, now()) FROM new_messages n
     WHERE ${ofOrganization('a.organization_id', 'n.organization_id')} AND a.contact_id = n.contact_id
   ), indexing AS (
     ${enqueueIndexing('new_messages')}
   )`
}
