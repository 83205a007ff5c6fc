import type { EndpointRow } from '../../../storage/webhooks/health.js'
import { type Concurrency, createConcurrency, MAX_IN_FLIGHT } from './concurrency.js'
import type { HealthSample } from './health.js'

/** The most attempts of a process at the same time: each has a socket, and its body in memory. */
export const MAX_UNDER_WAY = 512
/** The most attempts of one organization. */
export const MAX_OF_ORGANIZATION = 64
/** The most attempts at one host (with its port), of all organizations and of one. */
export const MAX_AT_HOST = 64
export const MAX_OF_ORGANIZATION_AT_HOST = 32

/** The key of all attempts, besides those of organizations, webhooks and hosts. */
const ALL = 'all'

type Placed = Pick<EndpointRow, 'organization_id' | 'id' | 'url'>

/** How an endpoint has answered an attempt. */
export interface Answered {
  begunAt: Date
  sample: HealthSample
  /** The endpoint's Retry-After. */
  retryAfterMs: number | null
}

/**
 * The places of attempts in this process. Besides its limit, an organization takes at most as many places as it leaves
 * free, an endpoint as many as it leaves free of its organization, and an organization as many as it leaves free at a
 * host. So those whose attempts hang never take all places, and a quiet one always finds some.
 */
export class Places {
  readonly #used = new Map<string, number>()
  /** Of the endpoints that failed lately, by webhook id. */
  readonly #concurrency = new Map<string, Concurrency>()

  /** The number of places taken. */
  get taken(): number {
    return this.#countOf(ALL)
  }

  /** Takes a place for one more attempt at the endpoint; false if there is none. */
  take(endpoint: Placed, now: Date): boolean {
    if (!this.#hasRoom(endpoint, now)) return false
    for (const key of allKeysOf(endpoint)) this.#used.set(key, this.#countOf(key) + 1)
    return true
  }

  /** Gives a place back. */
  give(endpoint: Placed): void {
    for (const key of allKeysOf(endpoint)) {
      const left = this.#countOf(key) - 1
      if (left > 0) this.#used.set(key, left)
      else this.#used.delete(key)
    }
  }

  /** Adapts the number of places of an endpoint to how it has answered. */
  note({ id }: Placed, { begunAt, sample, retryAfterMs }: Answered): void {
    const known = this.#concurrency.get(id)
    if (sample.delivered) {
      known?.succeeded(begunAt)
      if (known?.isUnlimited(sample.at)) this.#concurrency.delete(id)
    } else {
      const concurrency = known ?? createConcurrency()
      concurrency.failed(begunAt, sample.at, retryAfterMs)
      this.#concurrency.set(id, concurrency)
    }
  }

  #hasRoom(endpoint: Placed, now: Date): boolean {
    const { organization_id, id } = endpoint
    const { host, atHost } = keysOf(endpoint)
    const concurrency = this.#concurrency.get(id)
    return (
      concurrency?.allows(this.#countOf(id), now) !== false &&
      this.#hasShare(organization_id, MAX_OF_ORGANIZATION, ALL, MAX_UNDER_WAY) &&
      this.#hasShare(id, MAX_IN_FLIGHT, organization_id, MAX_OF_ORGANIZATION) &&
      this.#hasShare(atHost, MAX_OF_ORGANIZATION_AT_HOST, host, MAX_AT_HOST)
    )
  }

  /** True if `key` uses less than its maximum, and less than is free of the pool. */
  #hasShare(key: string, max: number, pool: string, poolMax: number): boolean {
    return this.#countOf(key) < Math.min(max, poolMax - this.#countOf(pool))
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
