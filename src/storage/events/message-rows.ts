import { ofOrganization } from '../../database/statement.js'

// Short events of messages (messages/message-events) leave out the rows of message and contact. Readers add them here, so
// that nothing behind them knows of two forms.

/** The member assigned to the message `m`, as JSON, or null. */
export const ASSIGNEE = `(
  SELECT jsonb_build_object('id', b.id, 'full_name', b.full_name, 'email', b.email)
  FROM members b
  WHERE b.organization_id = m.organization_id AND b.id = m.assignee_id
)`

/** The row of the message `m` as events have it, as JSON: without its trace. */
export const MESSAGE_ROW = `(to_jsonb(m) - ARRAY['trace', 'notes'])`

/** SQL: whether the message of the event `e` is there, if the event is a short one. */
export const HAS_MESSAGE = `(e.message_id IS NULL OR EXISTS (
           SELECT FROM messages WHERE ${ofOrganization('organization_id', 'e.organization_id')} AND id = e.message_id OFFSET 0
         ))`

/**
 * What the message `m` has unless its event says something else. The error of one that has not failed is about its file,
 * which is shown as it is now, too.
 */
const DEFAULT_STATE = `jsonb_build_object('outcome', NULL, 'held_at', NULL, 'error', CASE WHEN m.status <> 'failed' THEN m.error END)`

/** SQL: the data of the event `e`, with the rows of a short one below what it keeps itself. */
export const WHOLE_DATA = `CASE WHEN e.message_id IS NULL THEN e.data ELSE (
       SELECT e.data || jsonb_build_object(
         'message', ${MESSAGE_ROW} || jsonb_build_object('assignee', ${ASSIGNEE}) || ${DEFAULT_STATE} || (e.data -> 'message'),
         'contact', to_jsonb(c)
       )
       FROM (
         SELECT * FROM messages WHERE ${ofOrganization('organization_id', 'e.organization_id')} AND id = e.message_id OFFSET 0
       ) m CROSS JOIN (
         SELECT * FROM contacts WHERE ${ofOrganization('organization_id', 'e.organization_id')} AND id = e.contact_id OFFSET 0
       ) c
     ) END`

/** SQL: the message that the event `e` is about; NULL if there is none, or the event is blank. */
export const MESSAGE_OF_EVENT = `CASE WHEN e.data <> '{}' THEN coalesce(e.message_id, (e.data -> 'message' ->> 'id')::uuid) END`
