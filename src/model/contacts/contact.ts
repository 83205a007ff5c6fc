/** A contact as its row is stored; in events the dates are ISO strings, as PostgreSQL writes them into JSON. */
export interface Contact {
  organization_id: string
  id: string
  chat_id: string
  phone_number: string | null
  full_name: string | null
  email: string | null
  tags: string[]
  bot_status: 'active' | 'paused' | null
  allow_broadcast: boolean
  archived: boolean
  blocked: boolean
  has_unread_messages: boolean
  source: Record<string, unknown> | null
  contact_summary: string | null
  contact_summary_updated_at: Date | string | null
  /** How many messages the conversation has; the number of the newest. */
  last_seq: number
  /** Up to which number the messages are searched by the index of words. */
  searchable_seq: number
  last_inbound_at: Date | string | null
  /** Since when it wants no broadcasts any more; allow_broadcast is false then. Null where it never said so. */
  opted_out_at: Date | string | null
  /** How that came: it said so, the upstream did, or a list that was imported. */
  opt_out_source: 'reply' | 'upstream' | 'import' | null
  /** When it last said that it wants broadcasts again, or was allowed them by hand after an opt-out. */
  opted_in_at: Date | string | null
  /** The member of the team who answers it; null: nobody in particular. */
  assignee_id: string | null
  /** What the network calls the chat of a contact without a number: a group (…@g.us), or a person who hides it (…@lid). */
  network_id: string | null
  created_at: Date | string
  updated_at: Date | string
}

/** Asks for the contact that one of the addresses leads to, the first of them first. */
export interface ContactLookup {
  organizationId: string
  addresses: readonly string[]
}

/** How the address of a group ends. */
export const GROUP_SERVER = '@g.us'

/** Whether the contact stands for a group, and not for a person. */
export function isGroup({ network_id }: Pick<Contact, 'network_id'>): boolean {
  return network_id?.endsWith(GROUP_SERVER) === true
}

const ACTIVE_MS = 24 * 3_600_000

/** The contact as every interface and event shows it (spec 2.1). `active_status`: wrote within 24 hours before `now`. */
export function presentContact(contact: Contact, now: Date) {
  return {
    id: contact.id,
    full_name: contact.full_name,
    chat_id: contact.chat_id,
    phone_number: contact.phone_number,
    email: contact.email,
    tags: contact.tags,
    organization_id: contact.organization_id,
    bot_status: contact.bot_status,
    allow_broadcast: contact.allow_broadcast,
    archived: contact.archived,
    blocked: contact.blocked,
    active_status: isWithin(contact.last_inbound_at, ACTIVE_MS, now),
    has_unread_messages: contact.has_unread_messages,
    source: contact.source,
    contact_summary: contact.contact_summary,
    contact_summary_updated_at: toIso(contact.contact_summary_updated_at),
    ...(isGroup(contact) && { is_group: true }),
    created_at: toIso(contact.created_at),
    updated_at: toIso(contact.updated_at),
  }
}

function isWithin(date: Date | string | null, ms: number, now: Date): boolean {
  return date !== null && now.getTime() - new Date(date).getTime() < ms
}

/** ISO 8601 in UTC with milliseconds; null stays null. */
export function toIso(date: Date | string): string
export function toIso(date: Date | string | null): string | null
export function toIso(date: Date | string | null): string | null {
  return date === null ? null : new Date(date).toISOString()
}
