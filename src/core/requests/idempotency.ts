import type { Context } from '../../context.js'
import { isDatabaseUnavailable, isStatementTimeout } from '../../database/errors.js'
import { newId } from '../../lib/bytes/id.js'
import { Problem } from '../../model/problem.js'
import { isProcessAlive } from '../../storage/processes/process-registry.js'
import {
  abandonIdempotencyKey,
  claimIdempotencyKey,
  type IdempotentOperation,
  keepAnswer,
  releaseIdempotencyKey,
  takeOverIdempotencyKey,
} from '../../storage/requests/idempotency.js'

/** An answer that is stored and returned again unchanged. */
export interface KeptAnswer {
  status: number
  body: unknown
}

/** The answer to an attempt. `final`: it is kept; otherwise the next attempt starts over. */
export interface RepeatableAnswer extends KeptAnswer {
  final: boolean
  /** The message that failed and what went wrong, if the status and the body do not show it. */
  failed?: { messageId: string; text: string } | undefined
}

/** A request that has its effect once, even if a client repeats it. */
export interface IdempotentRequest extends IdempotentOperation {
  /** The answer contains a secret and is stored encrypted. */
  isSecret?: boolean
  /** Whether a kept answer reports an unknown outcome; then it is looked up again, since it may be known by now. */
  isUnsettled: (answer: KeptAnswer) => boolean
  /** Does the work; a created resource gets the given id. */
  perform: (resourceId: string) => Promise<RepeatableAnswer>
  /** The outcome of an attempt that did not report it; null if the attempt did nothing. */
  recover: (resourceId: string) => Promise<RepeatableAnswer | null>
}

/**
 * Does a request once per Idempotency-Key. Throws idempotency_key_reused, request_in_progress. `replayed`: the answer
 * comes from an earlier attempt, which had this resource id.
 */
export async function performOnce(
  ctx: Context,
  organizationId: string,
  request: IdempotentRequest,
): Promise<KeptAnswer & { replayed: boolean; resourceId: string }> {
  const resourceId = newId()
  // Added before the claim, so that a concurrent request that reads the claim does not consider it abandoned.
  return whileInProgress(ctx, resourceId, async () => {
    const attempt = { resourceId, processId: ctx.processId, at: ctx.clock() }
    const claim = await claimIdempotencyKey(ctx.database, organizationId, request, attempt)
    switch (claim.state) {
      case 'claimed':
        return {
          ...(await perform(ctx, organizationId, request, claim.resourceId)),
          replayed: false,
          resourceId: claim.resourceId,
        }
      case 'reused':
        throw new Problem(
          'idempotency_key_reused',
          `The Idempotency-Key "${request.key}" was used with another body in the last 24 hours: use a new key`,
        )
      case 'under_way':
        return takeOver(ctx, organizationId, request, claim)
      case 'answered': {
        const { resourceId: earlierId, status } = claim
        const body = decrypt(ctx, organizationId, request, claim.answer)
        const answer = await settleAnswer(ctx, organizationId, request, { resourceId: earlierId, status, body })
        return { ...answer, replayed: true, resourceId: earlierId }
      }
    }
  })
}

async function whileInProgress<Result>(
  { attemptsInProgress }: Context,
  resourceId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  attemptsInProgress.add(resourceId)
  try {
    return await work()
  } finally {
    attemptsInProgress.delete(resourceId)
  }
}

async function perform(
  ctx: Context,
  organizationId: string,
  request: IdempotentRequest,
  resourceId: string,
): Promise<KeptAnswer> {
  try {
    const attempt = await request.perform(resourceId)
    await finish(ctx, organizationId, request, { resourceId, ...attempt })
    return attempt
  } catch (error) {
    // A Problem means that nothing was done. After any other error, work may have been done, so the next attempt looks
    // it up first.
    const giveUp = error instanceof Problem ? releaseIdempotencyKey : abandonIdempotencyKey
    await giveUp(ctx.database, organizationId, request, resourceId).catch(() => undefined)
    throw error
  }
}

/** The work is done, so a failure to store the answer must not fail the request. */
async function finish(
  ctx: Context,
  organizationId: string,
  request: IdempotentRequest,
  { resourceId, status, body, final }: RepeatableAnswer & { resourceId: string },
): Promise<void> {
  try {
    if (final) {
      const kept = { status, body: request.isSecret ? encrypt(ctx, organizationId, body) : body }
      await keepAnswer(ctx.database, organizationId, request, { resourceId, answer: kept })
    } else await releaseIdempotencyKey(ctx.database, organizationId, request, resourceId)
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error
    ctx.log.warn({ err: error }, 'the answer to an idempotent request could not be kept')
  }
}

/** A stored answer with a secret; base64. */
interface EncryptedAnswer {
  sealed: string
}

function encrypt(ctx: Context, organizationId: string, body: unknown): EncryptedAnswer {
  return { sealed: ctx.secrets.seal(JSON.stringify(body), encryptionContext(organizationId)).toString('base64') }
}

function decrypt(ctx: Context, organizationId: string, { isSecret }: IdempotentRequest, kept: unknown): unknown {
  if (!isSecret) return kept
  return JSON.parse(
    ctx.secrets.open(Buffer.from((kept as EncryptedAnswer).sealed, 'base64'), encryptionContext(organizationId)),
  )
}

function encryptionContext(organizationId: string): string {
  return `${organizationId}:idempotency_keys.answer`
}

/** The first attempt has not answered: it is running, or it failed or its process died. */
async function takeOver(
  ctx: Context,
  organizationId: string,
  request: IdempotentRequest,
  { resourceId, processId, isOverdue }: { resourceId: string; processId: number; isOverdue: boolean },
): Promise<KeptAnswer & { replayed: boolean; resourceId: string }> {
  if (ctx.attemptsInProgress.has(resourceId)) throw inProgress(request)
  return whileInProgress(ctx, resourceId, async () => {
    const isOver = isOverdue || processId === ctx.processId || !(await isProcessAlive(ctx.database, processId))
    const handover = { resourceId, from: processId, to: ctx.processId, at: ctx.clock() }
    if (!isOver || !(await takeOverIdempotencyKey(ctx.database, organizationId, request, handover))) {
      throw inProgress(request)
    }
    const recovered = await request.recover(resourceId)
    if (recovered === null)
      return { ...(await perform(ctx, organizationId, request, resourceId)), replayed: false, resourceId }
    await finish(ctx, organizationId, request, { resourceId, ...recovered })
    return { status: recovered.status, body: recovered.body, replayed: true, resourceId }
  })
}

function inProgress({ key }: IdempotentRequest): Problem {
  return new Problem(
    'request_in_progress',
    `The first request with the Idempotency-Key "${key}" is still in progress: repeat this one in a moment`,
  )
}

/** The stored answer, or a new one if it reported an unknown outcome that is known by now. */
async function settleAnswer(
  ctx: Context,
  organizationId: string,
  request: IdempotentRequest,
  { resourceId, ...kept }: KeptAnswer & { resourceId: string },
): Promise<KeptAnswer> {
  if (!request.isUnsettled(kept)) return kept
  const settled = await request.recover(resourceId)
  if (settled === null || (request.isUnsettled(settled) && settled.status === kept.status)) return kept
  await finish(ctx, organizationId, request, { resourceId, ...settled, final: true })
  return { status: settled.status, body: settled.body }
}
