/** The columns of a message that its content is made of. */
export interface StoredContent {
  message_type: string
  sender_type: string
  text: string
  /** Any JSON. */
  content: unknown
  /** Any JSON; absent from events of the version before. */
  extras?: unknown
  context_upstream_id: string | null
}
