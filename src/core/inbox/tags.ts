import type { Context } from '../../context.js'
import { countTags } from '../../storage/conversations/inbox.js'

const MAX_TAGS = 500

/** The organization's tags with the number of contacts of each, most used first, 500 at most. */
export function listTags(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<{ tag: string; count: number }[]> {
  return countTags(database, organizationId, MAX_TAGS)
}
