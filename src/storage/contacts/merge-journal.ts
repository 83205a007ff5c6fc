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
}

const write = statement<never>(
  'mergeJournal.write',
  `INSERT INTO contact_merges (organization_id, id, kept_id, gone_id, cause, merged_at, first_seq, last_seq, seq_offset,
     kept, gone, active_at, addresses, spans, unnumbered, orders, notes, recipients)
   SELECT $1, $4, kept.id, gone.id, $5, $6, kept.last_seq + 1, kept.last_seq + gone.last_seq - gone.pruned_seq,
     kept.last_seq - gone.pruned_seq, to_jsonb(kept), to_jsonb(gone),
     (SELECT active_at FROM contact_activity WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = $2),
     ARRAY (SELECT address FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2),
     ARRAY (SELECT id FROM contact_address_spans WHERE organization_id = $1 AND contact_id = $2),
     ARRAY (SELECT id FROM messages WHERE organization_id = $1 AND contact_id = $2 AND seq IS NULL),
     ARRAY (SELECT id FROM storefront_orders WHERE organization_id = $1 AND contact_id = $2),
     (SELECT jsonb_object_agg(id, after_seq) FROM notes WHERE organization_id = $1 AND contact_id = $2),
     (SELECT jsonb_agg(jsonb_build_object('broadcast_id', broadcast_id, 'n', n)) FROM broadcast_recipients
      WHERE organization_id = $1 AND contact_id = $2)
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
  'UPDATE contact_merges SET gone_id = $3 WHERE organization_id = $1 AND gone_id = $2 AND undone_at IS NOT NULL',
)

const listApart = statement<Apart>(
  'mergeJournal.listApart',
  `SELECT kept_id, gone_id FROM contact_merges
   WHERE organization_id = $1 AND gone_id = ANY ($2) AND kept_id = ANY ($2) AND undone_at IS NOT NULL`,
)

const prune = sharedStatement<never>(
  'mergeJournal.prune',
  `DELETE FROM contact_merges m USING organizations o
   WHERE m.merged_at < $1 AND m.undone_at IS NULL AND o.id = m.organization_id AND o.legal_hold IS NULL`,
)

/** Writes down a merge before anything has moved, and carries over what is known of the younger contact. */
export async function journalMerge(
  transaction: Queryable,
  organizationId: string,
  { older, younger, cause, at }: Merge,
): Promise<void> {
  const pair = [organizationId, younger.id, older.id]
  const id = newId()
  await transaction.run(joinApart, pair)
  await transaction.run(moveKept, [...pair, older.last_seq - younger.pruned_seq, id])
  await transaction.run(moveApart, pair)
  await transaction.run(write, [...pair, id, cause, at])
}

/** Two contacts whose merge was undone. */
export interface Apart {
  kept_id: string
  gone_id: string
}

/** The pairs of these contacts whose merge was undone. */
export function listPairsApart(
  transaction: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Apart[]> {
  return transaction.run(listApart, [organizationId, ids])
}

/** Deletes merges from before `before`, which can no longer be undone. Of all organizations without a hold. */
export async function pruneMerges(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
