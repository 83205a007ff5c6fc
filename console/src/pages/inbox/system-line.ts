import type { TFunction } from 'i18next'
import type { ShownContent } from '../../../../src/model/messages/shown/schemas.js'

const OUTCOMES = ['missed', 'answered', 'rejected', 'failed'] as const
const HOLDERS = ['us', 'other'] as const

/** What a call or a hand-over came to: its outcome, or who answers now. Null for other messages. */
export function detailOf(content: ShownContent | null | undefined): string | null {
  if (content?.type === 'call') return content.outcome
  return content?.type === 'handover' ? content.holder : null
}

/** A call or a hand-over in one line, in the page's language. Null for other messages, or if the detail is not known. */
export function systemLine(t: TFunction<'inbox'>, messageType: string, detail: string | null): string | null {
  const outcome = messageType === 'call' && OUTCOMES.find((one) => one === detail)
  if (outcome) return t(`calls.${outcome}`)
  const holder = messageType === 'handover' && HOLDERS.find((one) => one === detail)
  return holder ? t(`handovers.${holder}`) : null
}
