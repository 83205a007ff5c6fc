import { presentOrganization, type Tenant } from './organization.js'

/** What an owner sees of the organization and its connections: no secrets. */
export interface ShownSettings {
  organization: ReturnType<typeof presentOrganization>
  /** Null where no number is connected. */
  upstream: ShownUpstream | null
  /** Null where no shop is connected. */
  storefront: { url: string } | null
  /** Where the upstream's callbacks are to go. */
  callback_url: string
  /** Where the shop's order webhooks are to go. */
  storefront_callback_url: string
}

/** What may be shown of a number at the upstream (contract 3: secrets are never returned). */
export interface ShownUpstream {
  phone_number_id: string
  business_account_id: string
  /** 0 = unpaced. */
  messages_per_second: number
  pair_limit: boolean
}

/** What came of asking another service with the credentials for it; `message` says for people what was wrong and what to do. */
export interface ConnectionCheck<Name extends string> {
  check: Name
  ok: boolean
  message: string
}

/** Of the upstream: whether the token opens the number, and lists the templates of the business account. */
export type UpstreamCheck = ConnectionCheck<'number' | 'templates'>

/** Of the storefront: whether the token reads orders. */
export type StorefrontCheck = ConnectionCheck<'orders'>

/** The settings of an organization; `publicUrl` is the service's. */
export function presentSettings(tenant: Tenant, storefrontUrl: string | null, publicUrl: string): ShownSettings {
  return {
    organization: presentOrganization(tenant),
    upstream: tenant.upstream === null ? null : presentUpstream(tenant.upstream),
    storefront: storefrontUrl === null ? null : { url: storefrontUrl },
    callback_url: `${publicUrl}/hooks/upstream`,
    storefront_callback_url: `${publicUrl}/hooks/storefront/${tenant.slug}`,
  }
}

/** The connection to the upstream without its secrets. */
export function presentUpstream(settings: ShownUpstream): ShownUpstream {
  const { phone_number_id, business_account_id, messages_per_second, pair_limit } = settings
  return { phone_number_id, business_account_id, messages_per_second, pair_limit }
}
