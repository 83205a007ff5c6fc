import type { TSchema } from 'typebox'

const OTHER_TEXT = 'Any other refusal, such as a body that is too large (413) or not application/json (415)'

/** The statuses of refusals that can come from every endpoint. */
type Anywhere = 401 | 403 | 429 | 503
const ANYWHERE: readonly Anywhere[] = [401, 403, 429, 503]

/**
 * Makes the function that tells the answers of an interface's endpoints, for their schemas: those of success, and the errors, which
 * all look as `errorSchema` and mean what `texts` say; 401, 403, 429 and 503 can come from every one. They document, and the tests
 * hold the real answers to them; nothing is cut or coerced by them.
 */
export function createResponses<Status extends number>(errorSchema: object, texts: Record<Status | Anywhere, string>) {
  return (success: Record<number, TSchema | object>, ...errors: Status[]): object => {
    const all = [...new Set<Status | Anywhere>([...errors, ...ANYWHERE])].sort()
    const failures = all.map((status) => [status, { ...errorSchema, description: texts[status] }])
    return { ...success, ...Object.fromEntries(failures), default: { ...errorSchema, description: OTHER_TEXT } }
  }
}
