import type { TSchema } from 'typebox'

const OTHER_TEXT = 'Any other refusal, such as a body that is too large (413) or not application/json (415)'

/** The statuses of errors that every endpoint can return. */
type Anywhere = 401 | 403 | 429 | 503
const ANYWHERE: readonly Anywhere[] = [401, 403, 429, 503]

/**
 * Creates the function that lists the responses of an endpoint for its schema: success, and errors in the form
 * `errorSchema` with the meanings in `texts`. 401, 403, 429 and 503 are added everywhere. The schemas are documentation
 * only, which tests compare with real answers; they change no answer.
 */
export function createResponses<Status extends number>(errorSchema: object, texts: Record<Status | Anywhere, string>) {
  return (success: Record<number, TSchema | object>, ...errors: Status[]): object => {
    const all = [...new Set<Status | Anywhere>([...errors, ...ANYWHERE])].sort()
    const failures = all.map((status) => [status, { ...errorSchema, description: texts[status] }])
    return { ...success, ...Object.fromEntries(failures), default: { ...errorSchema, description: OTHER_TEXT } }
  }
}
