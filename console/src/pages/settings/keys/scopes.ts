import type { Scope } from '../types.js'

// In texts a colon stands between a namespace and a key.
type ScopeText<Name extends string> = Name extends `${infer Noun}:${infer Verb}` ? `${Noun}_${Verb}` : Name

/** Under which key the texts of a scope stand. */
export function scopeText<Name extends Scope>(scope: Name): ScopeText<Name> {
  return scope.replace(':', '_') as ScopeText<Name>
}

/** All scopes, by what they are about. The type sees to it that none is missing. */
const GROUP_OF: Record<Scope, ScopeGroup> = {
  'contacts:read': 'conversations',
  'contacts:write': 'conversations',
  'conversations:read': 'conversations',
  'messages:send': 'sending',
  'templates:send': 'sending',
  'broadcasts:read': 'broadcasts',
  'broadcasts:write': 'broadcasts',
  'analytics:read': 'broadcasts',
  'webhooks:read': 'integrations',
  'webhooks:write': 'integrations',
  gateway: 'integrations',
}

export const SCOPE_GROUPS = ['conversations', 'sending', 'broadcasts', 'integrations'] as const
export type ScopeGroup = (typeof SCOPE_GROUPS)[number]

export const SCOPES = Object.keys(GROUP_OF) as Scope[]

/** The scopes of a group. */
export function scopesOf(group: ScopeGroup): Scope[] {
  return SCOPES.filter((scope) => GROUP_OF[scope] === group)
}
