import type { Queryable } from '../../../database/pool.js'
import { disableWebhook, type EndpointRow, lockHealth, noteFailingSince } from '../../../storage/webhooks/health.js'

const DAY_MS = 24 * 3_600_000
/** A webhook that has only failed for this long is disabled. */
const GIVE_UP_AFTER_MS = 5 * DAY_MS
/** The status of an endpoint that no longer exists. */
export const GONE = 410

/** How an endpoint has responded lately. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null
  /** Why it is to be disabled, for users; null if it is not. */
  disabledReason: string | null
}

/** What one attempt says about an endpoint. */
export interface HealthSample {
  at: Date
  delivered: boolean
  /** The status of the answer; null if there was none. */
  status: number | null
}

/** A webhook that was disabled because of its answers. */
export interface DisabledWebhook {
  organization_id: string
  id: string
  reason: string
}

/**
 * Records in the transaction what attempts say about their endpoints, and returns the webhooks that are disabled. Most
 * attempts succeed at a healthy endpoint and change nothing. `failing`: the webhooks that have only failed lately, as
 * far as this process knows; it is brought up to date.
 */
export async function recordHealth(
  transaction: Queryable,
  attempts: readonly { endpoint: EndpointRow; sample: HealthSample | null }[],
  failing: Set<string>,
): Promise<DisabledWebhook[]> {
  const samples = attempts.flatMap(({ endpoint: { organization_id, id, failing_since }, sample }) => {
    if (sample && (!sample.delivered || failing_since !== null)) failing.add(id)
    return sample ? [{ organization_id, id, sample }] : []
  })
  const concerned = samples.filter(({ id }) => failing.has(id))
  if (concerned.length === 0) return []
  const webhooks = [...new Map(concerned.map(({ organization_id, id }) => [id, { organization_id, id }])).values()]
  const before = await lockHealth(transaction, webhooks)
  const after = new Map<string, Health>(
    Array.from(before, ([id, failingSince]) => [id, { failingSince, disabledReason: null }]),
  )
  for (const { id, sample } of concerned) {
    const health = after.get(id)
    if (health) after.set(id, healthAfter(health, sample))
  }
  for (const { id } of webhooks) if (!after.get(id)?.failingSince) failing.delete(id)
  const known = webhooks.flatMap((webhook) => {
    const health = after.get(webhook.id)
    return health ? [{ ...webhook, failing_since: health.failingSince, reason: health.disabledReason }] : []
  })
  const changed = known.filter(({ id, failing_since }) => before.get(id)?.getTime() !== failing_since?.getTime())
  if (changed.length > 0) await noteFailingSince(transaction, changed)
  const disabled = known.flatMap(({ organization_id, id, reason }) =>
    reason === null ? [] : [{ organization_id, id, reason }],
  )
  for (const { organization_id, id, reason } of disabled) await disableWebhook(transaction, organization_id, id, reason)
  return disabled
}

/** The health after one more attempt. */
export function healthAfter({ failingSince, disabledReason }: Health, { at, delivered, status }: HealthSample): Health {
  if (disabledReason !== null) return { failingSince, disabledReason }
  if (delivered) return { failingSince: null, disabledReason: null }
  const since = failingSince ?? at
  return { failingSince: since, disabledReason: reasonToDisable(since, at, status) }
}

function reasonToDisable(since: Date, at: Date, status: number | null): string | null {
  if (status === GONE) return 'The endpoint answered 410: it is gone'
  if (at.getTime() - since.getTime() < GIVE_UP_AFTER_MS) return null
  return `Nothing but failures since ${since.toISOString()}`
}
