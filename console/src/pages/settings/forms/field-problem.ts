import { ApiError } from '../../../api/client.js'

/**
 * The service names the field that it refuses at the beginning of its message (`url must be …`, `The number 1 is …`): the one of
 * `names` that stands there, else the one whose other name (`aliases`: that to this) stands anywhere. Null where there is none.
 */
export function fieldOfProblem(
  error: unknown,
  names: readonly string[],
  aliases: Record<string, string> = {},
): string | null {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return null
  const { message } = error
  const named = names.find((name) => new RegExp(`^(The |This )?${name}(?!\\w)`).test(message))
  if (named !== undefined) return named
  const alias = Object.keys(aliases).find((words) => message.includes(words))
  return alias === undefined ? null : (aliases[alias] ?? null)
}
