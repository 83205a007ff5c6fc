import { type BusinessGroup, presentGroup } from './business-group.js'
import type { ContactReferral } from './referral.js'

/** A contact as its row is stored; in events the dates are ISO strings, in PostgreSQL's JSON format. */
export interface Contact {
  organization_id: string
  id: string
  chat_id: string
  phone_number: string | null
  /** The upstream's newest user id of the person at the organization's own number, or else at an instance. */
  user_id: string | null
  /** The upstream's id of the person that is valid in all linked portfolios. */
  parent_user_id: string | null
  /** The name that the person has chosen at WhatsApp, without @. People change it, and others take it then. */
  username: string | null
  /** When the person was seen with it. */
  username_at: Date | string | null
  /** The ad or post that the person first came from; null: none is known. */
  referral_first: ContactReferral | null
  /** And last; the same one, if there was one only. */
  referral_last: ContactReferral | null
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
  /** The number of the newest message. */
  last_seq: number
  /** The messages up to this number were deleted; the others have the numbers from the next one to `last_seq`. */
  pruned_seq: number
  /** The number of the last message in the word index. */
  searchable_seq: number
  last_inbound_at: Date | string | null
  /**
   * The instance of the business number that it last wrote to; null: the organization's own, or none. Older events have
   * none.
   */
  wrote_to?: string | null
  /** Since when the contact is opted out (`allow_broadcast` is false then); null if it is not. */
  opted_out_at: Date | string | null
  /** The source of the opt-out: the contact's reply, the upstream, or an imported list. */
  opt_out_source: 'reply' | 'upstream' | 'import' | null
  /** When the contact last opted in again, by a reply or by hand. */
  opted_in_at: Date | string | null
  /** The words of the last opt-out or opt-in; null if it had none. Older events have none. */
  consent_words?: string | null
  /** The member who answers the contact; null if unassigned. */
  assignee_id: string | null
  /** The JID of a contact without a number: a group (…@g.us), or a person who hides the number (…@lid). */
  network_id: string | null
  /** Of a group of a number of the business API; older events have none. */
  business_group?: BusinessGroup | null
  created_at: Date | string
  updated_at: Date | string
}

/** Looks up the contact of an address; the first address that is known decides. */
export interface ContactLookup {
  organizationId: string
  addresses: readonly string[]
}

/** The server part of a group's JID. */
export const GROUP_SERVER = '@g.us'

/** Whether the contact is a group. */
export function isGroup({ network_id }: Pick<Contact, 'network_id'>): boolean {
  return network_id?.endsWith(GROUP_SERVER) === true
}

const ACTIVE_MS = 24 * 3_600_000

/** The contact as interfaces and events show it. `active_status`: wrote within 24 hours before `now`. */
export function presentContact(contact: Contact, now: Date) {
  return {
    id: contact.id,
    full_name: contact.full_name,
    chat_id: contact.chat_id,
    phone_number: contact.phone_number,
    // Events of earlier versions lack them.
    user_id: contact.user_id ?? null,
    parent_user_id: contact.parent_user_id ?? null,
    username: contact.username ?? null,
    email: contact.email,
    tags: contact.tags,
    organization_id: contact.organization_id,
    bot_status: contact.bot_status,
    allow_broadcast: contact.allow_broadcast,
    archived: contact.archived,
    blocked: contact.blocked,
    active_status: wroteRecently(contact, now),
    has_unread_messages: contact.has_unread_messages,
    source: contact.source,
    referral: { first: contact.referral_first ?? null, last: contact.referral_last ?? null },
    contact_summary: contact.contact_summary,
    contact_summary_updated_at: toIso(contact.contact_summary_updated_at),
    ...(isGroup(contact) && { is_group: true }),
    ...(contact.business_group && { group: presentGroup(contact.business_group) }),
    created_at: toIso(contact.created_at),
    updated_at: toIso(contact.updated_at),
  }
}

/** Whether the contact wrote within 24 hours before `now`. */
export function wroteRecently({ last_inbound_at }: Pick<Contact, 'last_inbound_at'>, now: Date): boolean {
  return isWithin(last_inbound_at, ACTIVE_MS, now)
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
