import type { Context } from '../../context.js'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { beginningOf } from '../../lib/text/text.js'
import { readTimestamp } from '../../lib/text/timestamp.js'
import { enqueueTemplateSync, setTemplateQuality, setTemplateStatus } from '../../storage/templates/templates.js'

/** A change of a template in a callback; `status` and `quality` are null if the callback has no new one. */
export interface TemplateChange {
  name: string | null
  language: string | null
  status: string | null
  /** Why it has the status: why it was rejected or paused; null if that is not said. */
  reason: string | null
  quality: string | null
  /** As the upstream has it; it may never have been reported here. */
  previousQuality: string | null
  /** Null if the callback does not say. */
  at: Date | null
}

/** The fields of callbacks that report changes of templates. */
export const TEMPLATE_FIELDS: readonly string[] = [
  'message_template_status_update',
  'message_template_components_update',
  'message_template_quality_update',
  'template_category_update',
]

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
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  changes: readonly TemplateChange[],
): Promise<void> {
  if (changes.length === 0) return
  for (const { name, language, status, reason, quality, previousQuality, at } of changes) {
    if (name === null || language === null) continue
    if (status !== null) await setTemplateStatus(database, organizationId, { name, language, status, reason })
    if (quality === null) continue
    const changed = { name, language, quality, previousQuality, at: at ?? clock() }
    await setTemplateQuality(database, organizationId, changed)
  }
  await enqueueTemplateSync(database, organizationId)
}

/** Whether a field of callbacks reports changes of templates. */
export function isTemplateField(field: string): boolean {
  return TEMPLATE_FIELDS.includes(field)
}

/** More than a callback of the upstream has; the last ones count. */
const MAX_CHANGES = 1_000

/** Reads the template changes of a stored callback, in their order. The content is untrusted. */
export function readTemplateChanges(envelope: JsonObject): TemplateChange[] {
  return asObjects(envelope.entry)
    .flatMap(({ changes, time }) => asObjects(changes).map(({ field, value }) => ({ field, value, time })))
    .filter(({ field }) => isTemplateField(asText(field) ?? ''))
    .slice(-MAX_CHANGES)
    .map(({ value, time }) => readChange(asObject(value), time))
}

/** A quality is also reported by the field for statuses, without a status. */
function readChange(value: JsonObject, time: unknown): TemplateChange {
  const event = asText(value.event)?.toUpperCase() ?? ''
  return {
    name: asText(value.message_template_name),
    // The upstream writes en_US or en-US.
    language: asText(value.message_template_language)?.replaceAll('-', '_') ?? null,
    status: Object.hasOwn(STATUSES, event) ? (STATUSES[event] ?? null) : null,
    reason: readReason(asText(asObject(value.other_info).title)) ?? readReason(asText(value.reason)),
    quality: readQuality(value.new_quality_score),
    previousQuality: readQuality(value.previous_quality_score),
    at: readTimestamp(time),
  }
}

/** The title of further information is the kind of a pause. */
function readReason(reason: string | null): string | null {
  return reason === null || reason === 'NONE' ? null : beginningOf(reason, MAX_WORD)
}

const MAX_WORD = 64

function readQuality(value: unknown): string | null {
  const text = asText(value)
  return text && beginningOf(text.toUpperCase(), MAX_WORD)
}
