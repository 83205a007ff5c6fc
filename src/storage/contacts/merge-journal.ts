import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { MergeCause } from '../../model/contacts/merge.js'

// What is written about merges of contacts, so that they can be undone.

/** Two contacts that are one person. */
export interface Merge {
  /** The one that stays. */
  older: Contact
  younger: Contact
  cause: MergeCause
  at: Date
  /** The upstream's time of what showed that they are one person. */
  seenAt: Date
}

const write = statement<never>(
  'mergeJournal.write',
  `INSERT INTO contact_merges (organization_id, id, kept_id, gone_id, cause, merged_at, first_seq, last_seq, seq_offset,
     kept, gone, active_at, addresses, spans, unnumbered, orders, notes, recipients, scheduled)
   SELECT $1, $4, kept.id, gone.id, $5, $6, kept.last_seq + 1, kept.last_seq + gone.last_seq - gone.pruned_seq,
     kept.last_seq - gone.pruned_seq,
     to_jsonb(kept) || jsonb_build_object('seen_at', $7::timestamptz, 'from_seq', (SELECT last_value FROM events_seq), 'active_at', (
       SELECT active_at FROM contact_activity WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = $3
     ), 'open', (
       SELECT coalesce(jsonb_agg(address), '[]') FROM contact_addresses
       WHERE organization_id = $1 AND contact_id IN ($2, $3) AND left_at IS NULL
     )), to_jsonb(gone),
     (SELECT active_at FROM contact_activity WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = $2),
     ARRAY (SELECT address FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2),
     ARRAY (SELECT id FROM contact_address_spans WHERE organization_id = $1 AND contact_id = $2),
     ARRAY (SELECT id FROM messages WHERE organization_id = $1 AND contact_id = $2 AND seq IS NULL),
     ARRAY (SELECT id FROM storefront_orders WHERE organization_id = $1 AND contact_id = $2),
     (SELECT jsonb_object_agg(id, after_seq) FROM notes WHERE organization_id = $1 AND contact_id = $2),
     (SELECT jsonb_agg(jsonb_build_object('broadcast_id', broadcast_id, 'n', n)) FROM broadcast_recipients
      WHERE organization_id = $1 AND contact_id = $2),
     ARRAY (SELECT id FROM scheduled_messages WHERE organization_id = $1 AND contact_id = $2)
   FROM contacts kept, contacts gone
   WHERE ${ofOrganization('kept.organization_id', '$1::uuid')} AND kept.id = $3
     AND ${ofOrganization('gone.organization_id', '$1::uuid')} AND gone.id = $2`,
)

const joinApart = statement<never>(
  'mergeJournal.joinApart',
  `DELETE FROM contact_merges
   WHERE organization_id = $1 AND undone_at IS NOT NULL AND kept_id IN ($2, $3) AND gone_id IN ($2, $3)`,
)

const moveKept = statement<never>(
  'mergeJournal.moveKept',
  `UPDATE contact_merges SET kept_id = $3, first_seq = first_seq + $4, last_seq = last_seq + $4, via = via || $5::uuid
   WHERE organization_id = $1 AND kept_id = $2`,
)

const moveApart = statement<never>(
  'mergeJournal.moveApart',
  `UPDATE contact_merges SET gone_id = $3, via = via || $4::uuid
   WHERE organization_id = $1 AND gone_id = $2 AND undone_at IS NOT NULL`,
)

const listApart = statement<Apart>(
  'mergeJournal.listApart',
  `SELECT kept_id, gone_id, undone_at FROM contact_merges
   WHERE organization_id = $1 AND gone_id = ANY ($2) AND kept_id = ANY ($2) AND undone_at IS NOT NULL`,
)

const prune = sharedStatement<{ count: number }>(
  'mergeJournal.prune',
  `WITH old AS (
     SELECT m.organization_id, m.id FROM contact_merges m JOIN organizations o ON o.id = m.organization_id
     WHERE m.merged_at < $1 AND m.undone_at IS NULL AND o.legal_hold IS NULL
     ORDER BY m.merged_at
     LIMIT $2
   ), pruned AS (
     DELETE FROM contact_merges m USING old WHERE m.organization_id = old.organization_id AND m.id = old.id
     RETURNING m.id
   )
   SELECT count(*) FROM pruned`,
)

/**
 * Writes down a merge before anything has moved, and carries over what is known of the younger contact. Beside
 * its columns, `kept` has `seen_at`, `active_at`, in `from_seq` the number of the last event before, and in `open` the
 * addresses that neither contact had given up.
 */
export async function journalMerge(
  transaction: Queryable,
  organizationId: string,
  { older, younger, cause, at, seenAt }: Merge,
): Promise<void> {
  const pair = [organizationId, younger.id, older.id]
  const id = newId()
  await transaction.run(joinApart, pair)
  await transaction.run(moveKept, [...pair, older.last_seq - younger.pruned_seq, id])
  await transaction.run(moveApart, [...pair, id])
  await transaction.run(write, [...pair, id, cause, at, seenAt])
}

/** Two contacts whose merge was undone. */
export interface Apart {
  kept_id: string
  gone_id: string
  undone_at: Date
}

/** The pairs of these contacts whose merge was undone. */
export function listPairsApart(
  transaction: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Apart[]> {
  return transaction.run(listApart, [organizationId, ids])
}

/**
 * Deletes at most `limit` merges from before `before`, which can no longer be undone; resolves to how many. Of all
 * organizations without a hold.
 */
export async function pruneMerges(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
}
