import { SCOPES, type Scope } from './scope.js'

/** The roles of members. */
export const MEMBER_ROLES = ['owner', 'agent', 'analyst'] as const

export type MemberRole = (typeof MEMBER_ROLES)[number]

/** A member of an organization's team, without the password's hash. */
export interface Member {
  id: string
  email: string
  full_name: string
  role: MemberRole
  /** Whether the member can sign in with a password, or with links only. */
  has_password: boolean
  created_at: Date
  updated_at: Date
}

/** The fields of a member that other members see. */
export type TeamMember = Pick<Member, 'id' | 'email' | 'full_name' | 'role' | 'has_password'>

const OF_OWNERS: readonly Scope[] = ['webhooks:read', 'webhooks:write', 'gateway']

const SCOPES_OF_ROLE: Record<MemberRole, readonly Scope[]> = {
  owner: SCOPES,
  agent: SCOPES.filter((scope) => !OF_OWNERS.includes(scope)),
  analyst: ['contacts:read', 'conversations:read', 'broadcasts:read', 'analytics:read'],
}

/** The scopes of a role. */
export function scopesOfRole(role: MemberRole): readonly Scope[] {
  return SCOPES_OF_ROLE[role]
}

/** A member as other members see it. */
export function presentTeamMember({ id, email, full_name, role, has_password }: TeamMember): TeamMember {
  return { id, email, full_name, role, has_password }
}
