import { Type } from 'typebox'
import { toIso } from '../contacts/contact.js'
import { Nullable } from '../fields.js'

export const SEVERITIES = ['critical', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** What the upstream reported about the account or one of its numbers. */
export interface Notice {
  id: string
  /** The instance whose number or account it is about; null: the organization's own. */
  instance_id: string | null
  /** The upstream's name of what it posts, such as `account_update`. */
  field: string
  /** The upstream's word for what happened, such as `ACCOUNT_RESTRICTION`. */
  kind: string | null
  severity: Severity
  /** A sentence. */
  title: string
  /** What to do, as sentences; null: nothing. */
  advice: string | null
  /** As the upstream posted it; null if it was too large. */
  value: Record<string, unknown> | null
  at: Date | string
  /** When it ends on its own. */
  until: Date | string | null
  closed_at: Date | string | null
}

/** The notice as events and the console show it. */
export function presentNotice(notice: Notice) {
  const { id, instance_id, field, kind, severity, title, advice, value, at, until, closed_at } = notice
  const times = { at: toIso(at), until: toIso(until), closed_at: toIso(closed_at) }
  return { id, instance_id, field, kind, severity, title, advice, value, ...times }
}

export type PresentedNotice = ReturnType<typeof presentNotice>

const Time = Type.String({ format: 'date-time' })

export const NoticeSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  instance_id: Nullable(Type.String({ format: 'uuid', description: 'Null: the own number' })),
  field: Type.String({ description: "WhatsApp's name of what it posts, such as account_update" }),
  kind: Nullable(Type.String({ description: "WhatsApp's word for what happened, such as ACCOUNT_RESTRICTION" })),
  severity: Type.Enum([...SEVERITIES]),
  title: Type.String({ description: 'What happened' }),
  advice: Nullable(Type.String({ description: 'What to do' })),
  value: Nullable(Type.Object({}, { additionalProperties: true, description: 'As WhatsApp posted it' })),
  at: Time,
  until: Nullable(Type.String({ format: 'date-time', description: 'When it ends on its own' })),
  closed_at: Nullable(Type.String({ format: 'date-time', description: 'When a member of the team closed it' })),
})
