import type { EventKind } from '../types.js'

/** Subscribes to all kinds, including those of later versions. */
export const EVERY_KIND = '*'

// Keys of texts cannot contain a dot, which separates levels.
type KindText<Name extends string> = Name extends `${infer Noun}.${infer Verb}` ? `${Noun}_${Verb}` : Name

/** The key of a kind's text. */
export function kindText<Name extends EventKind>(kind: Name): KindText<Name> {
  return kind.replace('.', '_') as KindText<Name>
}

export const KIND_GROUPS = ['messages', 'contacts', 'others'] as const
export type KindGroup = (typeof KIND_GROUPS)[number]

/** All kinds, by group. The type makes sure that none is missing. */
const GROUP_OF: Record<EventKind, KindGroup> = {
  'message.received': 'messages',
  'message.scheduled': 'messages',
  'message.sent': 'messages',
  'message.delivered': 'messages',
  'message.read': 'messages',
  'message.failed': 'messages',
  'message.reaction': 'messages',
  'message.edited': 'messages',
  'message.deleted': 'messages',
  'call.missed': 'contacts',
  'call.ended': 'contacts',
  'conversation.handed_over': 'contacts',
  'group.updated': 'contacts',
  'contact.created': 'contacts',
  'contact.updated': 'contacts',
  'contact.opted_out': 'contacts',
  'contact.opted_in': 'contacts',
  'contact.merged': 'contacts',
  'contact.unmerged': 'contacts',
  'broadcast.started': 'others',
  'broadcast.completed': 'others',
  'template.status_changed': 'others',
  'template.updated': 'others',
  'template.quality_changed': 'others',
  'account.updated': 'others',
  'number.updated': 'others',
  'history.imported': 'others',
  'webhook.disabled': 'others',
}

/** The kinds of a group. */
export function kindsOf(group: KindGroup): EventKind[] {
  return (Object.keys(GROUP_OF) as EventKind[]).filter((kind) => GROUP_OF[kind] === group)
}
