/**
 * Why two contacts became one. `seen_together`: a message, a status or the answer to a send had the addresses of both.
 * `announced`: WhatsApp announced that the person of one has the address of the other now.
 */
export const MERGE_CAUSES = ['seen_together', 'announced'] as const
export type MergeCause = (typeof MERGE_CAUSES)[number]

/** The part of an event that tells of a merge. */
export interface MergeNews {
  /** The contact that is no more. */
  id: string
  cause: MergeCause
}
