/** The codes with which the network closes a connection. */
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

/** The next step after a connection ends. `clear`: the session's keys are no longer valid. */
export type NextStep = { step: 'at_once' } | { step: 'back_off' } | { step: 'end'; clear: boolean; text: string }

/** A refusal may be temporary, so it is retried this often. */
export const MAX_REFUSALS = 3

const FINAL: Record<number, { clear: boolean; text: string }> = {
  [CLOSE_CODES.logged_out]: { clear: true, text: 'The phone has unlinked this device' },
  [CLOSE_CODES.payment_required]: { clear: true, text: 'WhatsApp has suspended this account' },
  [CLOSE_CODES.forbidden]: { clear: true, text: 'WhatsApp has banned this account' },
  [CLOSE_CODES.banned]: { clear: true, text: 'WhatsApp has banned this account' },
  [CLOSE_CODES.not_multi_device]: { clear: false, text: 'This account does not accept linked devices' },
  [CLOSE_CODES.replaced]: { clear: false, text: 'Another connection with the same session has replaced this one' },
}

const REFUSALS: Record<number, string> = {
  [CLOSE_CODES.version_refused]: 'WhatsApp refuses the version of the library; a newer one must be installed',
  [CLOSE_CODES.bad_session]: 'WhatsApp refuses this session; log out and link the device again',
}

/** `refusals` counts the refusals in a row, including this one, since the network last accepted the session. */
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

/** How the messages of the library's socket errors begin (socket, TLS or proxy). */
const SOCKET_ERROR = 'WebSocket Error ('

/** The network's code in an error of the library; null if it has none. */
export function codeOf(error: unknown): number | null {
  const { output, message } = (error ?? {}) as { output?: { statusCode?: unknown }; message?: unknown }
  // The library invents a code for these: mostly 500, which would count as a refusal, or the proxy's.
  if (typeof message === 'string' && message.startsWith(SOCKET_ERROR)) return null
  return typeof output?.statusCode === 'number' ? output.statusCode : null
}
