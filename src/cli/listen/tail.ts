import { Type } from 'typebox'
import type { OperatorContext } from '../../context.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { listWebhooks, requireWebhook } from '../../core/webhooks/endpoints.js'
import { tailDeliveries } from '../../core/webhooks/log.js'
import { sleep } from '../../lib/async/backoff.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import type { AttemptRow, Delivery } from '../../model/webhooks/webhook.js'
import { readOptions } from '../input.js'
import type { Invocation } from '../invocation.js'
import { asOperator } from '../operator.js'
import { inOneLine, printNote } from '../output.js'
import { following } from './follow.js'

export interface TailOptions {
  org: string
  webhook?: string
  json?: boolean
}

/** One attempt at a delivery, as `--json` prints it. */
interface ShownAttempt extends AttemptRow {
  outcome: 'delivered' | 'retry' | 'failed'
  delivery_id: string
  webhook_id: string
  /** Null if the webhook was deleted. */
  url: string | null
  event_id: string
  event_type: string
  /** The number of the attempt, from 1. */
  attempt: number
  next_attempt_at: Date | null
}

const POLL_MS = 500
/** Records become visible a little later, when their transaction commits. */
const LOOK_BACK_MS = 2_000
const PAGE = 1_000

const Wanted = Type.Object({ webhook: Type.Optional(Type.String({ format: 'uuid' })) })

/** `parley webhooks tail`: prints the attempts of an organization's deliveries as they are recorded. */
export async function tail({ env, streams }: Invocation, { org, webhook, json }: TailOptions): Promise<void> {
  const { webhook: webhookId = null } = readOptions(Wanted, { webhook }, (input) => input)
  await following(streams, ({ signal, print }) =>
    asOperator(env, async (ctx) => {
      const { id, name } = await findOrganizationByName(ctx, org)
      if (webhookId !== null) await requireWebhook(ctx, id, webhookId)
      const readNew = createReader(ctx, id, webhookId)
      // Skips earlier attempts.
      await readNew()
      printNote(streams, `Attempts at deliveries of ${name} are shown as they are recorded; Ctrl-C ends`)
      while (!signal.aborted) {
        await sleep(POLL_MS, signal)
        for (const attempt of await readNew()) await print(json ? `${JSON.stringify(attempt)}\n` : toLine(attempt))
      }
    }),
  )
}

/** Creates the function that reads the attempts recorded since its last call. */
function createReader(
  ctx: OperatorContext,
  organizationId: string,
  webhookId: string | null,
): () => Promise<ShownAttempt[]> {
  /** The number of attempts read per delivery, and when the last one was recorded. */
  const read = new Map<string, { count: number; at: Date }>()
  let urls = new Map<string, string>()
  let readAt = ctx.clock()

  async function readNew(): Promise<ShownAttempt[]> {
    const since = new Date(readAt.getTime() - LOOK_BACK_MS)
    for (const [id, { at }] of read) if (at < since) read.delete(id)
    readAt = ctx.clock()
    const fresh: ShownAttempt[] = []
    for await (const delivery of readSince(ctx, organizationId, since)) {
      const { id, webhook_id, attempts, attempted_at } = delivery
      if (webhookId !== null && webhook_id !== webhookId) continue
      // For a delivery that is not remembered, only the last attempt is new: attempts are seconds apart.
      const known = read.get(id)?.count ?? attempts.length - 1
      read.set(id, { count: attempts.length, at: attempted_at as Date })
      for (let index = known; index < attempts.length; index++) {
        fresh.push(toShown(delivery, index, await urlOf(webhook_id)))
      }
    }
    return fresh
  }

  async function urlOf(id: string): Promise<string | null> {
    if (!urls.has(id)) {
      const webhooks = await listWebhooks(ctx, organizationId)
      urls = new Map(webhooks.map((webhook) => [webhook.id, webhook.url]))
    }
    return urls.get(id) ?? null
  }

  return readNew
}

/** Deliveries whose last attempt was recorded at `since` or later; one that is attempted meanwhile comes twice. */
async function* readSince(ctx: OperatorContext, organizationId: string, since: Date): AsyncGenerator<Delivery> {
  for (let after = { at: since, id: NIL_UUID }; ; ) {
    const page = await tailDeliveries(ctx, organizationId, after, PAGE)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = { at: last.attempted_at as Date, id: last.id }
  }
}

function toShown(delivery: Delivery, index: number, url: string | null): ShownAttempt {
  const { id, webhook_id, event_id, event_type, status, attempts, next_attempt_at } = delivery
  const attempt = attempts[index] as AttemptRow
  const isLast = index === attempts.length - 1
  return {
    outcome: isLast && status !== 'pending' ? status : 'retry',
    ...attempt,
    delivery_id: id,
    webhook_id,
    url,
    event_id,
    event_type,
    attempt: index + 1,
    next_attempt_at: isLast ? next_attempt_at : null,
  }
}

function toLine(shown: ShownAttempt): string {
  const { at, outcome, event_type, url, webhook_id, error, response_status, duration_ms, attempt } = shown
  const cells = [
    new Date(at).toTimeString().slice(0, 8),
    outcome.padEnd('delivered'.length),
    event_type,
    url ?? webhook_id,
    error ?? response_status,
    `${duration_ms} ms`,
    `attempt ${attempt}${toNext(shown)}`,
  ]
  return `${inOneLine(cells.join('  '))}\n`
}

/** With the date, because it may be tomorrow. */
function toNext({ next_attempt_at }: ShownAttempt): string {
  return next_attempt_at ? `, the next one at ${next_attempt_at.toLocaleString('sv')}` : ''
}
