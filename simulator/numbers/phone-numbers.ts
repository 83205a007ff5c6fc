/**
 * The digits of a phone number written with `+`, `-`, parentheses and spaces, or null when it is none: 7 to 15 digits
 * that do not begin with 0, as country codes never do.
 */
export function phoneDigits(written: string): string | null {
  const digits = written.replace(/[+\-() ]/g, '')
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : null
}

/**
 * The id under which the network knows a number, which is not always the number dialled: Brazilian mobiles of area
 * codes from 31 on lack the 9, Mexican ones carry a 1 and Argentinian ones a 9 after the country code.
 */
export function networkId(digits: string): string {
  const brazil = /^55(\d\d)9(\d{8})$/.exec(digits)
  if (brazil) return Number(brazil[1]) >= 31 ? `55${brazil[1]}${brazil[2]}` : digits
  if (/^52\d{10}$/.test(digits)) return `521${digits.slice(2)}`
  if (/^54\d{10}$/.test(digits)) return `549${digits.slice(2)}`
  return digits
}

/** Whether a text names a group, or a person whose number is not shown, as linked devices do. */
export function isGroupOrHidden(text: string): boolean {
  return /^\d[\d-]{0,63}@(g\.us|lid)$/.test(text)
}

/** Whether a text is a business-scoped user id: an ISO country, a dot, up to 128 letters and digits. */
export function isUserId(text: string): boolean {
  return /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/.test(text)
}
