/** The kinds of event (contract 4, Webhooks) that the verbs built so far raise. */
export type EventType =
  | 'message.received'
  | 'message.sent'
  | 'message.delivered'
  | 'message.read'
  | 'message.failed'
  | 'message.reaction'
  | 'contact.created'
  | 'contact.updated'
