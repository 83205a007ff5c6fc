import { SCOPES, type Scope } from './scope.js'

/** What the members of a team may be. */
export const MEMBER_ROLES = ['owner', 'agent', 'analyst'] as const

export type MemberRole = (typeof MEMBER_ROLES)[number]

/** A member of an organization's team, without the password's hash. */
export interface Member {
  id: string
  email: string
  full_name: string
  role: MemberRole
  /** Whether the member can sign in by a password, or by links only. */
  has_password: boolean
  created_at: Date
  updated_at: Date
}

/** What the members of a team are shown of each other. */
export type TeamMember = Pick<Member, 'id' | 'email' | 'full_name' | 'role' | 'has_password'>

const OF_OWNERS: readonly Scope[] = ['webhooks:read', 'webhooks:write', 'gateway']

const SCOPES_OF_ROLE: Record<MemberRole, readonly Scope[]> = {
  owner: SCOPES,
  agent: SCOPES.filter((scope) => !OF_OWNERS.includes(scope)),
  analyst: ['contacts:read', 'conversations:read', 'broadcasts:read', 'analytics:read'],
}

/** What a member of the role may do, in the terms in which keys are allowed it. */
export function scopesOfRole(role: MemberRole): readonly Scope[] {
  return SCOPES_OF_ROLE[role]
}

/** A member as the members of the team see it. */
export function presentTeamMember({ id, email, full_name, role, has_password }: TeamMember): TeamMember {
  return { id, email, full_name, role, has_password }
}
