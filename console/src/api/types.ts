// Answers of the service, by the types of its presenters. Only types are imported.
import type { presentContact } from '../../../src/model/contacts/contact.js'
import type { presentOrganization } from '../../../src/model/organizations/organization.js'

export type Contact = ReturnType<typeof presentContact>
export type Organization = ReturnType<typeof presentOrganization>

/** The answer to a change of a contact. */
export interface ChangedContact {
  contact: Contact
  /** Whether WhatsApp blocked or unblocked the contact, too; undefined if it was not asked. */
  upstream_block?: { done: boolean; text: string | null }
}

export type Role = 'owner' | 'agent' | 'analyst'

/** A member of the team. */
export interface Member {
  id: string
  email: string
  full_name: string
  role: Role
  has_password: boolean
}

/** The signed-in member and the organization. */
export interface Session {
  member: Member
  organization: Organization
  /** The session began with a one-time link: a password can be set without the current one. */
  by_link: boolean
  public_url: string
  /** Whether the simulator stands in for WhatsApp. */
  simulator: boolean
  /** The utm_source that marks orders as coming from messages. */
  utm_source: string
  /** The position after which live events start. */
  live_from: string
}
