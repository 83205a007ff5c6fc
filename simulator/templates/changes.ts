import type { Change, TemplateStatusValue } from '../../src/upstream/wire.js'
import type { StoredTemplate } from './store.js'

/** What happened to a template, as its callback says. */
export interface TemplateEvent {
  event: string
  reason: string | null
}

/** The callback for a status of a template. The reason of a pause is the title of further information. */
export function statusChange(
  { id, name, language, category }: StoredTemplate,
  { event, reason }: TemplateEvent,
): Change {
  const isPause = event === 'PAUSED' && reason !== null
  const value: TemplateStatusValue = {
    event,
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: language,
    message_template_category: category,
    reason: isPause ? 'NONE' : (reason ?? (event === 'REJECTED' || event === 'APPROVED' ? 'NONE' : null)),
    ...(isPause && { other_info: { title: reason } }),
  }
  return { value, field: 'message_template_status_update' }
}
