import { Type } from 'typebox'
import { toIso } from '../contacts/contact.js'
import { Nullable } from '../fields.js'
import type { MessageError } from '../messages/message.js'

export const HISTORY_STATUSES = ['running', 'done', 'refused'] as const

/** What has been taken in of the history of a number that is also used on a phone. */
export interface PhoneHistory {
  id: string
  /** The instance whose number it is of; null: the organization's own. */
  instance_id: string | null
  status: (typeof HISTORY_STATUSES)[number]
  /** Percent, as the upstream says. */
  progress: number
  /** 0: the last day, 1: up to 90 days, 2: up to 180 days; null: the upstream has not said. */
  phase: number | null
  /** How many messages were not known before. */
  messages: number
  /** Why there is none. */
  error: MessageError | null
  started_at: Date | string
  updated_at: Date | string
  finished_at: Date | string | null
}

/** The history as events and the console show it. */
export function presentPhoneHistory(history: PhoneHistory) {
  const { id, instance_id, status, progress, phase, messages, error, started_at, updated_at, finished_at } = history
  const times = { started_at: toIso(started_at), updated_at: toIso(updated_at), finished_at: toIso(finished_at) }
  return { id, instance_id, status, progress, phase, messages, error, ...times }
}

export type PresentedPhoneHistory = ReturnType<typeof presentPhoneHistory>

const Time = Type.String({ format: 'date-time' })

export const PhoneHistorySchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  instance_id: Nullable(Type.String({ format: 'uuid', description: 'Null: the own number' })),
  status: Type.Enum([...HISTORY_STATUSES], {
    description: '`refused`: the business did not share its history, or WhatsApp gave another reason',
  }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent, as WhatsApp says' }),
  phase: Nullable(
    Type.Integer({ minimum: 0, maximum: 2, description: '0: the last day, 1: up to 90 days, 2: up to 180 days' }),
  ),
  messages: Type.Integer({ minimum: 0, description: 'How many messages were new' }),
  error: Nullable(
    Type.Object({
      code: Type.Union([Type.Number(), Type.String()], { description: '2593109: the business did not share it' }),
      text: Type.String(),
    }),
  ),
  started_at: Time,
  updated_at: Time,
  finished_at: Nullable(Time),
})
