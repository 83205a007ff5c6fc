/**
 * Why two contacts became one. `seen_together`: something that WhatsApp reported (a message, a status, a call, …) had the
 * addresses of both. `announced`: WhatsApp announced that the person of one has the address of the other now.
 */
export const MERGE_CAUSES = ['seen_together', 'announced'] as const
export type MergeCause = (typeof MERGE_CAUSES)[number]

/** How long a merge can be undone. */
export const UNDO_MS = 30 * 24 * 3_600_000

/** A merge as its row is listed, with the contact that is no more. */
export interface ListedMerge {
  id: string
  gone_id: string
  cause: MergeCause
  merged_at: Date
  full_name: string | null
  phone_number: string | null
  chat_id: string
  user_id: string | null
  username: string | null
  /** How many messages moved. */
  messages: number
}

/** A merge as the console shows it. `undo_until`: until when it can be undone. */
export function presentMerge({ gone_id, merged_at, ...merge }: ListedMerge) {
  return {
    ...merge,
    merged_contact_id: gone_id,
    merged_at: merged_at.toISOString(),
    undo_until: new Date(merged_at.getTime() + UNDO_MS).toISOString(),
  }
}

export type ShownMerge = ReturnType<typeof presentMerge>

/** The part of an event that tells of a merge. */
export interface MergeNews {
  /** The contact that is no more. */
  id: string
  cause: MergeCause
}

/** The part of an event that tells of the undo of a merge. */
export interface UnmergeNews {
  /** The contact that had the other one's conversation, too. */
  id: string
}
