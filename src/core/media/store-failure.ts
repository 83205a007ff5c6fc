import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'

const RETRY_SECONDS = 5

/**
 * Logs an error of the file store and returns service_unavailable with it as the cause. `what` says what cannot be done;
 * `where` names the file in the log.
 */
export function storeFailure(
  ctx: Pick<Context, 'log'>,
  error: unknown,
  what: string,
  where: Record<string, string>,
): Problem {
  ctx.log.error({ err: error, ...where }, 'the media store failed')
  const problem = new Problem('service_unavailable', `${what} at the moment: try again`, { retry_after: RETRY_SECONDS })
  problem.cause = error
  return problem
}
