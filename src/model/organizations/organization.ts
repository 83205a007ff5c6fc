import type { CountryCode } from 'libphonenumber-js/max'
import type { Restriction } from './restriction.js'

/** How an organization sends: by the business API, by a gateway instance, or not yet. */
export type Provider = 'upstream' | 'gateway' | null

/** A tenant, as its row is stored. */
export interface Organization {
  id: string
  name: string
  slug: string
  provider: Provider
  /** ISO 3166 alpha-2; national phone numbers are read with it. */
  default_country: CountryCode
  /** IANA name; it defines the days of the analytics. */
  timezone: string
  /** ISO 4217. */
  currency: string
  /** The preferred language of templates. */
  language: string
  /** False if `language` is the service's default, which says nothing about the organization. */
  language_chosen: boolean
  /** How many days after a click or a message an order is still attributed to it. */
  attribution_window_days: number
  /** How many days raw callbacks, events and webhook deliveries are kept. */
  retention_days: number
  /** How many days after its recording a message is deleted; null: never. At least `retention_days`. */
  message_retention_days: number | null
  /** How many days after the recording of its message a file is removed; null: never before the message. */
  media_retention_days: number | null
  /** The hold that is on; null: none. */
  legal_hold: LegalHold | null
  /** Since when it stands still, to be moved; null: it works. */
  suspended_at: Date | null
  created_at: Date
  updated_at: Date
}

/** While it is on, nothing of the organization is deleted. */
export interface LegalHold {
  reason: string
  /** Who set it. */
  by: string
  /** ISO 8601. */
  since: string
}

/** A hold that was released. */
export interface ReleasedHold extends LegalHold {
  released_by: string
  released_at: string
}

/** The organization's number at the upstream; the secrets are encrypted (lib/crypto/secret-box). */
export interface UpstreamSettings {
  phone_number_id: string
  business_account_id: string
  access_token: Buffer
  app_secret: Buffer
  /** As the operator chose it; DEFAULT_MESSAGES_PER_SECOND: as the upstream allows. 0: unlimited. */
  messages_per_second: number
  pair_limit: boolean
  restrictions: Restriction[] | null
  /** Messages per second that the upstream allows; null: not read yet. */
  throughput: number | null
}

/** An organization with the settings for sending. */
export interface Tenant extends Organization {
  upstream: UpstreamSettings | null
  /** Whether instances have numbers of their own beside it; false without it. */
  has_further_numbers: boolean
}

/** The organization as the admin API shows it. */
export function presentOrganization(organization: Organization) {
  const { id, name, slug, provider, default_country, timezone, currency, language } = organization
  const { attribution_window_days, retention_days, message_retention_days, media_retention_days } = organization
  return {
    id,
    name,
    slug,
    provider,
    default_country,
    timezone,
    currency,
    language,
    attribution_window_days,
    retention_days,
    message_retention_days,
    media_retention_days,
    legal_hold: organization.legal_hold,
    suspended_at: organization.suspended_at?.toISOString() ?? null,
    created_at: organization.created_at.toISOString(),
    updated_at: organization.updated_at.toISOString(),
  }
}
