const TEXTS: Record<string, string> = {
  463: 'The network lets this account begin no further conversations for now',
  475: 'The network lets this account begin no further conversations for now',
  479: 'The network did not take the message as it was addressed',
}

/** A sentence for users about a code with which the network refuses a message. */
export function describeRefusal(code: string | null): string {
  if (code === null) return 'The network refused the message'
  return TEXTS[code] ?? `The network refused the message (${code})`
}

/** The code as a number; null if it is not a number. */
export function readRefusalCode(code: string | null): number | null {
  return code !== null && /^\d{1,9}$/.test(code) ? Number(code) : null
}
