// What the service answers, by the types of its own presenters: types alone, nothing of the service is in the page.
import type { presentContact } from '../../../src/model/contacts/contact.js'
import type { presentOrganization } from '../../../src/model/organizations/organization.js'

export type Contact = ReturnType<typeof presentContact>
export type Organization = ReturnType<typeof presentOrganization>

export type Role = 'owner' | 'agent' | 'analyst'

/** A member of the team. */
export interface Member {
  id: string
  email: string
  full_name: string
  role: Role
  has_password: boolean
}

/** Who is signed in, and where. */
export interface Session {
  member: Member
  organization: Organization
  /** Begun by a one-time link: a password can be set without the one before. */
  by_link: boolean
  public_url: string
  /** Whether the sandbox stands in for the upstream. */
  simulator: boolean
  /** The utm_source by which orders are known to come from messages. */
  utm_source: string
  /** The position from which on events are to be heard. */
  live_from: string
}
