import { ofOrganization } from '../../database/statement.js'
import { enqueueIndexing } from '../conversations/search.js'
import { countOnChannels } from '../instances/channel-counts.js'

/**
 * The parts of a WITH that follow from new numbered messages: they are counted on their channels, move their contacts
 * up in lists by activity, and have long conversations indexed. `rows` is a SELECT of their organization_id,
 * contact_id, instance_id and seq.
 */
export function noteMessages(rows: string): string {
  return `noted AS (
     ${rows}
   ), counted_on_channels AS (
     ${countOnChannels('noted', 'count(*)')}
   ), active AS (
     UPDATE contact_activity a SET active_at = greatest(a.active_at, now()) FROM noted n
     WHERE ${ofOrganization('a.organization_id', 'n.organization_id')} AND a.contact_id = n.contact_id
   ), indexing AS (
     ${enqueueIndexing('noted')}
   )`
}
