import { asObject, asText } from '../../lib/text/json.js'

/** The `message_type` of a hand-over in a conversation. */
export const HANDOVER = 'handover'

/** Who answers a conversation from now on, as its message stores it in `content`. */
export interface Handover {
  /** `us`: the organization; `other`: another app, such as the upstream's own agent. */
  holder: 'us' | 'other'
  /** Roles in the upstream's words, such as `ai_agent`, `escalation`. */
  previous_role: string | null
  new_role: string | null
  /** What the one who handed it over says about it. */
  note: string | null
  /** What was said before, as a model of the upstream summed it up. */
  summary: string | null
}

/** The text of a hand-over's message. */
export function describeHandover({ holder, note, summary }: Handover): string {
  const what =
    holder === 'us' ? 'This conversation was handed over to you' : 'Another app answers this conversation now'
  return [note === null ? what : `${what}: ${note}`, ...(summary === null ? [] : [summary])].join('\n')
}

/** The hand-over of a message's stored content; null if it is none. */
export function readHandover(content: unknown): Handover | null {
  const { holder, previous_role, new_role, note, summary } = asObject(content)
  if (holder !== 'us' && holder !== 'other') return null
  const roles = { previous_role: asText(previous_role), new_role: asText(new_role) }
  return { holder, ...roles, note: asText(note), summary: asText(summary) }
}
