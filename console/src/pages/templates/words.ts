/** The upstream's words that the page has texts for. It shows others as they are. */
export const STATUSES = [
  ...(['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'PENDING_DELETION', 'DELETED'] as const),
  ...(['LIMIT_EXCEEDED', 'ARCHIVED'] as const),
] as const
export const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const
export const QUALITIES = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const
export const REASONS = [
  ...(['ABUSIVE_CONTENT', 'INCORRECT_CATEGORY', 'INVALID_FORMAT'] as const),
  ...(['PROMOTIONAL', 'SCAM', 'TAG_CONTENT_MISMATCH'] as const),
] as const

/** The word if it is one of these. */
export function known<Word extends string>(words: readonly Word[], word: string): Word | undefined {
  return words.find((one) => one === word)
}
