import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { isWebAddress } from '../../../model/web-address.js'

/**
 * A text of a button. It is checked here rather than by the schema, after the button's type, since buttons of other
 * types have other fields. Throws missing_field, invalid_field.
 */
export function checkedText(text: string | undefined, path: string, limit: number): string {
  if (!text) throw new Problem('missing_field', `${path} is required and must not be empty`)
  if ([...text].length > limit) throw new Problem('invalid_field', `${path} must have at most ${limit} characters`)
  return text
}

/** An address that the upstream or the recipient's phone opens. Throws missing_field, invalid_field. */
export function checkedAddress(text: string | undefined, path: string): string {
  const url = checkedText(text, path, LIMITS.url)
  if (isWebAddress(url)) return url
  throw new Problem('invalid_field', `${path} must be an http or https address`)
}
