/** Codes with which the network closes a connection. */
export const CLOSE_CODES = {
  logged_out: 401,
  payment_required: 402,
  forbidden: 403,
  version_refused: 405,
  banned: 406,
  timed_out: 408,
  not_multi_device: 411,
  closed: 428,
  replaced: 440,
  bad_session: 500,
  unavailable: 503,
  restart_required: 515,
} as const

/** What follows from the end of a connection. `clear`: the session's keys are worth nothing any more. */
export type NextStep = { step: 'at_once' } | { step: 'back_off' } | { step: 'end'; clear: boolean; text: string }

/** How often a refusal is asked again that may have been a passing one. */
export const MAX_REFUSALS = 3

const FINAL: Record<number, { clear: boolean; text: string }> = {
  [CLOSE_CODES.logged_out]: { clear: true, text: 'The phone has unlinked this device' },
  [CLOSE_CODES.payment_required]: { clear: true, text: 'The network has suspended this account' },
  [CLOSE_CODES.forbidden]: { clear: true, text: 'The network has banned this account' },
  [CLOSE_CODES.banned]: { clear: true, text: 'The network has banned this account' },
  [CLOSE_CODES.not_multi_device]: { clear: false, text: 'This account takes no linked devices' },
  [CLOSE_CODES.replaced]: { clear: false, text: 'Another connection with the same session has taken its place' },
}

const REFUSALS: Record<number, string> = {
  [CLOSE_CODES.version_refused]: 'The network refuses the version of the library; a newer one must be installed',
  [CLOSE_CODES.bad_session]: 'The network refuses this session; log out and link the device anew',
}

/** `refusals`: how many times in a row, with this one, the network has refused without letting it in between. */
export function nextStep(code: number | null, refusals: number): NextStep {
  if (code === CLOSE_CODES.restart_required) return { step: 'at_once' }
  const final = code === null ? undefined : FINAL[code]
  if (final) return { step: 'end', ...final }
  const refusal = code === null ? undefined : REFUSALS[code]
  if (refusal === undefined || refusals < MAX_REFUSALS) return { step: 'back_off' }
  return { step: 'end', clear: false, text: refusal }
}

export function isRefusal(code: number | null): boolean {
  return code !== null && Object.hasOwn(REFUSALS, code)
}

/** How the library names what the socket below it, TLS or a proxy has failed at. */
const SOCKET_ERROR = 'WebSocket Error ('

/** The code of the network that an error of the library carries; null where the network has said nothing. */
export function codeOf(error: unknown): number | null {
  const { output, message } = (error ?? {}) as { output?: { statusCode?: unknown }; message?: unknown }
  // The library gives these a code of its own making: mostly 500, which would be a refusal, or the one of a proxy.
  if (typeof message === 'string' && message.startsWith(SOCKET_ERROR)) return null
  return typeof output?.statusCode === 'number' ? output.statusCode : null
}
