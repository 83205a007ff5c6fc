import type { CountryCode } from 'libphonenumber-js/max'

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
  created_at: Date
  updated_at: Date
}

/** The organization's number at the upstream; the secrets are encrypted (lib/crypto/secret-box). */
export interface UpstreamSettings {
  phone_number_id: string
  business_account_id: string
  access_token: Buffer
  app_secret: Buffer
  messages_per_second: number
  pair_limit: boolean
}

/** An organization with the settings for sending. */
export interface Tenant extends Organization {
  upstream: UpstreamSettings | null
}

/** The organization as the admin API shows it. */
export function presentOrganization(organization: Organization) {
  const { id, name, slug, provider, default_country, timezone, currency, language } = organization
  const { attribution_window_days, retention_days } = organization
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
    created_at: organization.created_at.toISOString(),
    updated_at: organization.updated_at.toISOString(),
  }
}
