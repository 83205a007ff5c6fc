import type { Context } from '../../context.js'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { enqueueTemplateSync, setTemplateStatus } from '../../storage/templates/templates.js'

/** A change of a template in a callback; `status` is null if the callback has no new status. */
export interface TemplateChange {
  name: string | null
  language: string | null
  status: string | null
}

const FIELDS = new Set([
  'message_template_status_update',
  'message_template_components_update',
  'message_template_quality_update',
  'template_category_update',
])

/** The status after each event. Other events (such as FLAGGED) are found by the next sync. */
const STATUSES: Record<string, string> = {
  APPROVED: 'APPROVED',
  REINSTATED: 'APPROVED',
  PENDING: 'PENDING',
  REJECTED: 'REJECTED',
  PAUSED: 'PAUSED',
  DISABLED: 'DISABLED',
  IN_APPEAL: 'IN_APPEAL',
  PENDING_DELETION: 'PENDING_DELETION',
  DELETED: 'DELETED',
  LIMIT_EXCEEDED: 'LIMIT_EXCEEDED',
  ARCHIVED: 'ARCHIVED',
}

/**
 * Applies the template changes of a stored callback: a new status counts at once, and a job fetches the rest. Applying
 * it again changes nothing.
 */
export async function applyTemplateChanges(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  changes: readonly TemplateChange[],
): Promise<void> {
  if (changes.length === 0) return
  for (const { name, language, status } of changes) {
    if (name === null || language === null || status === null) continue
    await setTemplateStatus(database, organizationId, { name, language, status })
  }
  await enqueueTemplateSync(database, organizationId)
}

/** Reads the template changes of a stored callback, in their order. The content is untrusted. */
export function readTemplateChanges(envelope: JsonObject): TemplateChange[] {
  return asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .filter(({ field }) => FIELDS.has(String(field)))
    .map(({ value }) => readChange(asObject(value)))
}

function readChange(value: JsonObject): TemplateChange {
  const event = asText(value.event)?.toUpperCase() ?? ''
  return {
    name: asText(value.message_template_name),
    language: asText(value.message_template_language),
    status: Object.hasOwn(STATUSES, event) ? (STATUSES[event] ?? null) : null,
  }
}
