import type { TFunction } from 'i18next'
import type { ShownContent } from '../../../../src/model/messages/shown/schemas.js'

const OUTCOMES = ['missed', 'answered', 'rejected', 'failed'] as const
const HOLDERS = ['us', 'other'] as const
/** What may happen to a group. */
export const GROUP_CHANGES = [
  ...(['created', 'deleted', 'renamed', 'described', 'picture_changed', 'suspended', 'resumed'] as const),
  ...(['joined', 'left', 'join_requested', 'join_request_revoked', 'promoted', 'demoted'] as const),
] as const

/**
 * What a call, a hand-over or a change of a group came to: the outcome, who answers now, or what happened. Null for other
 * messages.
 */
export function detailOf(content: ShownContent | null | undefined): string | null {
  if (content?.type === 'call') return content.outcome
  if (content?.type === 'group') return content.event
  return content?.type === 'handover' ? content.holder : null
}

/**
 * A call, a hand-over or a change of a group in one short line, in the page's language. Null for other messages, or if the
 * detail is not known.
 */
export function systemLine(t: TFunction<'inbox'>, messageType: string, detail: string | null): string | null {
  const outcome = messageType === 'call' && OUTCOMES.find((one) => one === detail)
  if (outcome) return t(`calls.${outcome}`)
  const change = messageType === 'group' && GROUP_CHANGES.find((one) => one === detail)
  if (change) return t(`groups.${change}`)
  const holder = messageType === 'handover' && HOLDERS.find((one) => one === detail)
  return holder ? t(`handovers.${holder}`) : null
}
