import { presentOrganization, type Tenant } from './organization.js'

/** The settings that an owner sees, without secrets. */
export interface ShownSettings {
  organization: ReturnType<typeof presentOrganization>
  /** Null if no number is connected. */
  upstream: ShownUpstream | null
  /** Null if no shop is connected. */
  storefront: { url: string } | null
  /** The URL for the upstream's callbacks. */
  callback_url: string
  /** The fields of callbacks to subscribe to at the upstream. */
  callback_fields: readonly string[]
  /** The URL for the shop's order webhooks. */
  storefront_callback_url: string
}

/** A number at the upstream without its secrets, which are never returned. */
export interface ShownUpstream {
  phone_number_id: string
  business_account_id: string
  /** 0: unlimited. */
  messages_per_second: number
  pair_limit: boolean
}

/** The result of a connection test; `message` says what was wrong and what to do. */
export interface ConnectionCheck<Name extends string> {
  check: Name
  ok: boolean
  message: string
}

/** Upstream: whether the token can read the number and list the templates of the business account. */
export type UpstreamCheck = ConnectionCheck<'number' | 'templates'>

/** Storefront: whether the token can read orders. */
export type StorefrontCheck = ConnectionCheck<'orders'>

/** The settings of an organization; `publicUrl` is the service's. */
export function presentSettings(
  tenant: Tenant,
  storefrontUrl: string | null,
  { publicUrl, callbackFields }: { publicUrl: string; callbackFields: readonly string[] },
): ShownSettings {
  return {
    organization: presentOrganization(tenant),
    upstream: tenant.upstream === null ? null : presentUpstream(tenant.upstream),
    storefront: storefrontUrl === null ? null : { url: storefrontUrl },
    callback_url: `${publicUrl}/hooks/upstream`,
    callback_fields: callbackFields,
    storefront_callback_url: `${publicUrl}/hooks/storefront/${tenant.slug}`,
  }
}

export function presentUpstream(settings: ShownUpstream): ShownUpstream {
  const { phone_number_id, business_account_id, messages_per_second, pair_limit } = settings
  return { phone_number_id, business_account_id, messages_per_second, pair_limit }
}
