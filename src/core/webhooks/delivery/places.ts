import type { EndpointRow } from '../../../storage/webhooks/health.js'

/** How many deliveries may use places at the same time. */
export interface PlaceLimits {
  all: number
  ofOrganization: number
  ofEndpoint: number
  /** At one host (with its port), of all organizations and of one. */
  atHost: number
  ofOrganizationAtHost: number
}

export type Placed = Pick<EndpointRow, 'organization_id' | 'id' | 'url'>

/** The key of all deliveries, besides those of organizations, webhooks and hosts. */
const ALL = 'all'

/**
 * Places that deliveries share in this process. Besides its limit, an organization takes at most as many places as it
 * leaves free, an endpoint as many as it leaves free of its organization, and an organization as many as it leaves free
 * at a host. So those whose attempts hang never take all places, and a quiet one always finds some.
 */
export class Places {
  readonly #limits: PlaceLimits
  readonly #used = new Map<string, number>()

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** How many places the endpoint uses. */
  usedBy({ id }: Placed): number {
    return this.#countOf(id)
  }

  /** How many more places the endpoint may take. */
  free(endpoint: Placed): number {
    const { organization_id, id } = endpoint
    const { host, atHost } = keysOf(endpoint)
    const { all, ofOrganization, ofEndpoint, ofOrganizationAtHost, atHost: maxAtHost } = this.#limits
    const free = Math.min(
      this.#shareOf(organization_id, ofOrganization, ALL, all),
      this.#shareOf(id, ofEndpoint, organization_id, ofOrganization),
      this.#shareOf(atHost, ofOrganizationAtHost, host, maxAtHost),
    )
    return Math.max(0, free)
  }

  /** Takes places, whether they are free or not; a negative number gives them back. */
  take(endpoint: Placed, count = 1): void {
    for (const key of allKeysOf(endpoint)) {
      const used = this.#countOf(key) + count
      if (used > 0) this.#used.set(key, used)
      else this.#used.delete(key)
    }
  }

  /** How many more `key` may take, up to its maximum and to as many as are then left of the pool. */
  #shareOf(key: string, max: number, pool: string, poolMax: number): number {
    const used = this.#countOf(key)
    return Math.min(max - used, Math.ceil((poolMax - this.#countOf(pool) - used) / 2))
  }

  #countOf(key: string): number {
    return this.#used.get(key) ?? 0
  }
}

const hosts = new WeakMap<Placed, { host: string; atHost: string }>()

function keysOf(endpoint: Placed): { host: string; atHost: string } {
  const known = hosts.get(endpoint)
  if (known) return known
  const host = URL.canParse(endpoint.url) ? new URL(endpoint.url).host : endpoint.url
  const keys = { host: `host ${host}`, atHost: `${endpoint.organization_id} ${host}` }
  hosts.set(endpoint, keys)
  return keys
}

function allKeysOf(endpoint: Placed): string[] {
  const { host, atHost } = keysOf(endpoint)
  return [ALL, endpoint.organization_id, endpoint.id, host, atHost]
}
