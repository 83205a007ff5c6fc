/** What an upstream error means for the message; decided by `error.code` alone. */
export type RefusalClass = 'credentials' | 'limited' | 'busy' | 'permanent'

const CREDENTIALS = new Set([0, 3, 10, 104, 190, 131005])
const LIMITED = new Set([4, 80007, 80008, 130429, 131056])
const BUSY = new Set([2, 131016, 131057, 133004])

/** Too many messages from one number to one recipient; this limit recovers far more slowly than the others. */
export const PAIR_LIMIT = 131056

/**
 * Classifies an error code. Messages refused as `limited` or `busy` were not accepted and may be sent again; other
 * codes with a 4xx status are final.
 */
export function classifyRefusal(code: number): RefusalClass {
  if (CREDENTIALS.has(code) || (code >= 200 && code <= 299)) return 'credentials'
  if (LIMITED.has(code)) return 'limited'
  if (BUSY.has(code)) return 'busy'
  return 'permanent'
}
