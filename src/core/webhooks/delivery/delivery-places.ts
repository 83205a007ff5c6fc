import { FairPlaces, type PlaceLimits } from '../../../lib/async/fair-places.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'

/** How many deliveries may have places at the same time. */
export interface DeliveryLimits {
  all: number
  ofOrganization: number
  ofEndpoint: number
  /** At one host (with its port), of all organizations and of one. */
  atHost: number
  ofOrganizationAtHost: number
}

export type Placed = Pick<EndpointRow, 'organization_id' | 'id' | 'url'>

/** Some places and a key that shares them. */
interface Part {
  group: string
  places: FairPlaces
  key: string
}

/**
 * The places of deliveries in this process. Organizations share all of them, endpoints those of their organization, and
 * organizations those of a host. Each leaves as many free as it has. So endpoints whose attempts hang never have all
 * places, and a quiet one always finds some.
 */
export class DeliveryPlaces {
  readonly #limits: DeliveryLimits
  /** The groups of places of which any is taken. */
  readonly #groups = new Map<string, FairPlaces>()

  constructor(limits: DeliveryLimits) {
    this.#limits = limits
  }

  /** How many places the endpoint has. */
  takenBy({ organization_id, id }: Placed): number {
    return this.#groups.get(organization_id)?.takenBy(id) ?? 0
  }

  /** How many more places the endpoint may have. */
  free(endpoint: Placed): number {
    return Math.min(...this.#partsOf(endpoint).map(({ places, key }) => places.free(key)))
  }

  /** Acquires places, whether they are free or not. */
  acquire(endpoint: Placed, count = 1): void {
    for (const { group, places, key } of this.#partsOf(endpoint)) {
      places.acquireNow(key, count)
      this.#groups.set(group, places)
    }
  }

  /** Gives acquired places back. */
  release(endpoint: Placed, count = 1): void {
    for (const { group, places, key } of this.#partsOf(endpoint)) {
      places.release(key, count)
      if (places.isUnused()) this.#groups.delete(group)
    }
  }

  #partsOf(endpoint: Placed): Part[] {
    const { organization_id, id } = endpoint
    const { all, ofOrganization, ofEndpoint, atHost, ofOrganizationAtHost } = this.#limits
    return [
      this.#part('all', organization_id, { places: all, ofOneKey: ofOrganization }),
      this.#part(organization_id, id, { places: ofOrganization, ofOneKey: ofEndpoint }),
      this.#part(hostOf(endpoint), organization_id, { places: atHost, ofOneKey: ofOrganizationAtHost }),
    ]
  }

  #part(group: string, key: string, limits: PlaceLimits): Part {
    return { group, key, places: this.#groups.get(group) ?? new FairPlaces({ ...limits, leavesHalf: true }) }
  }
}

const hosts = new WeakMap<Placed, string>()

function hostOf(endpoint: Placed): string {
  const known = hosts.get(endpoint)
  if (known !== undefined) return known
  const host = `host ${URL.canParse(endpoint.url) ? new URL(endpoint.url).host : endpoint.url}`
  hosts.set(endpoint, host)
  return host
}
