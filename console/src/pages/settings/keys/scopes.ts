import type { Scope } from '../types.js'

// Keys of texts cannot contain a colon, which separates the namespace.
type ScopeText<Name extends string> = Name extends `${infer Noun}:${infer Verb}` ? `${Noun}_${Verb}` : Name

/** The key of a scope's text. */
export function scopeText<Name extends Scope>(scope: Name): ScopeText<Name> {
  return scope.replace(':', '_') as ScopeText<Name>
}

/** All scopes, by group. The type makes sure that none is missing. */
const GROUP_OF: Record<Scope, ScopeGroup> = {
  'contacts:read': 'conversations',
  'contacts:write': 'conversations',
  'conversations:read': 'conversations',
  'messages:send': 'sending',
  'templates:send': 'sending',
  'templates:write': 'sending',
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
