import { ASSIGNEE, MESSAGE_ROW } from '../events/message-rows.js'
import type { RaisedEvents } from '../events/raise.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'
import { REACTIONS } from './messages.js'

// An event of a message is short: it names the message, keeps what may be different later, and readers add the rows of
// message and contact (events/message-rows). A whole one repeats both rows, as all events did before 1.1; those of edits,
// deletions and placeholders still do, because they are about a text. See docs/decisions/events.md.

/** The message `m` as a whole event has it; without its trace. */
export const MESSAGE_SNAPSHOT = `(${MESSAGE_ROW} || jsonb_build_object('reactions', ${REACTIONS}, 'assignee', ${ASSIGNEE}))`

/**
 * What a short event keeps of the message `m`: what may be different when it is read. What is null is left out,
 * and so is the error of a file, which readers take from the row with the file. `reactions`: SQL.
 */
export const messageState = (reactions: string) =>
  `jsonb_strip_nulls(jsonb_build_object('status', m.status, 'outcome', m.outcome,
     'error', CASE WHEN m.status = 'failed' THEN m.error END, 'held_at', m.held_at, 'reactions', ${reactions}))`

/** The same with its reactions, which SQL of a message finds. */
export const MESSAGE_STATE = messageState(REACTIONS)

/** What an event of a message has, as SQL. */
interface MessageParts {
  /** A condition under which it is whole in any case; NULL: it is not. */
  isWhole?: string
  /** In a whole event. */
  message?: string
  contact?: string
  /** In a short one. */
  state?: string
  /** Only for a change of status. */
  previousStatus?: string
  /** Only for an edit: the text before it, else NULL. */
  previousText?: string
  /** Only for a status: what it says about the price, or NULL. */
  price?: string
}

/** Events about messages `m` of contacts `c`; `type` and `id` are SQL. */
export function messageEvents(type: string, id: string, parts: MessageParts = {}): Omit<RaisedEvents, 'from'> {
  const { isWhole, message = MESSAGE_SNAPSHOT, contact = 'to_jsonb(c)', state = MESSAGE_STATE } = parts
  const whole = isWhole === undefined ? WRITES_AS_BEFORE : `(${WRITES_AS_BEFORE} OR coalesce(${isWhole}, false))`
  const more = { previous_status: parts.previousStatus, previous_message: parts.previousText, pricing: parts.price }
  const fields = Object.entries(more).map(([name, value]) => (value === undefined ? '' : orNothing(name, value)))
  return {
    id,
    type,
    contactId: 'm.contact_id',
    messageId: `CASE WHEN NOT ${whole} THEN m.id END`,
    data: `CASE WHEN ${whole} THEN jsonb_build_object('message', ${message}, 'contact', ${contact})
       ELSE jsonb_build_object('message', ${state}) END${fields.join('')}`,
  }
}

/** The field, unless it is null. */
function orNothing(name: string, value: string): string {
  return ` || CASE WHEN ${value} IS NULL THEN '{}' ELSE jsonb_build_object('${name}', ${value}) END`
}
