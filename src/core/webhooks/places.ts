import type { EndpointRow } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { type Concurrency, createConcurrency, MAX_IN_FLIGHT } from './concurrency.js'

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

/**
 * The places of attempts in this process. Besides its limit, an organization takes at most as many places as it leaves
 * free, an endpoint as many as it leaves free of its organization, and an organization as many as it leaves free at a
 * host. So those whose attempts hang never take all places, and a quiet one always finds some.
 */
export class Places {
  readonly #used: Map<string, number>
  /** Of the endpoints that failed lately, by webhook id. */
  readonly #concurrency: Map<string, Concurrency>

  constructor(used = new Map<string, number>(), concurrency = new Map<string, Concurrency>()) {
    this.#used = used
    this.#concurrency = concurrency
  }

  /** The number of places taken. */
  get taken(): number {
    return this.#countOf(ALL)
  }

  /** True if one more attempt at the endpoint may start. */
  hasRoom(endpoint: Placed, now: Date): boolean {
    const { organization_id, id } = endpoint
    const { host, atHost } = keysOf(endpoint)
    const concurrency = this.#concurrency.get(id)
    const isAllowed = concurrency?.allows(this.#countOf(id), now) ?? this.#countOf(id) < MAX_IN_FLIGHT
    return (
      isAllowed &&
      this.#hasShare(organization_id, MAX_OF_ORGANIZATION, ALL, MAX_UNDER_WAY) &&
      this.#hasShare(id, MAX_IN_FLIGHT, organization_id, MAX_OF_ORGANIZATION) &&
      this.#hasShare(atHost, MAX_OF_ORGANIZATION_AT_HOST, host, MAX_AT_HOST)
    )
  }

  take(endpoint: Placed): void {
    for (const key of allKeysOf(endpoint)) this.#used.set(key, this.#countOf(key) + 1)
  }

  /** Gives a place back, and notes how the endpoint has answered; null: the attempt was aborted. */
  give(endpoint: Placed, ended: EndedAttempt | null): void {
    for (const key of allKeysOf(endpoint)) {
      const left = this.#countOf(key) - 1
      if (left > 0) this.#used.set(key, left)
      else this.#used.delete(key)
    }
    if (!ended?.sample) return
    const known = this.#concurrency.get(endpoint.id)
    if (ended.sample.delivered) {
      known?.succeeded(ended.begunAt)
      if (known?.isUnlimited(ended.sample.at)) this.#concurrency.delete(endpoint.id)
    } else {
      const concurrency = known ?? createConcurrency()
      concurrency.failed(ended.begunAt, ended.sample.at, ended.retryAfterMs)
      this.#concurrency.set(endpoint.id, concurrency)
    }
  }

  /** True while the endpoint gets nothing. */
  isPaused(webhookId: string, now: Date): boolean {
    return this.#concurrency.get(webhookId)?.allows(0, now) === false
  }

  /** The same places, for planning: taking one of them takes nothing here. */
  copy(): Places {
    return new Places(new Map(this.#used), this.#concurrency)
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
