import { ApiError } from '../../../api/client.js'

/**
 * The field that an error message of the service names: one of `names` at its beginning (`url must be …`, `The number 1
 * is …`), else one whose alias (`aliases`: alias → name) occurs anywhere. Null if there is none.
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
