/**
 * The digits of a phone number written with `+`, `-`, parentheses and spaces, or null if it is not a phone number: 7 to
 * 15 digits that do not start with 0, as no country code does.
 */
export function phoneDigits(written: string): string | null {
  const digits = written.replace(/[+\-() ]/g, '')
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : null
}

/**
 * The network's id of a number, which can differ from the dialled number: Brazilian mobiles with area codes from 31 on
 * lack the 9; Mexican numbers have a 1 and Argentinian ones a 9 after the country code.
 */
export function networkId(digits: string): string {
  const brazil = /^55(\d\d)9(\d{8})$/.exec(digits)
  if (brazil) return Number(brazil[1]) >= 31 ? `55${brazil[1]}${brazil[2]}` : digits
  if (/^52\d{10}$/.test(digits)) return `521${digits.slice(2)}`
  if (/^54\d{10}$/.test(digits)) return `549${digits.slice(2)}`
  return digits
}

/** True for the id of a group, or of a person whose number is hidden, in the form of linked devices. */
export function isGroupOrHidden(text: string): boolean {
  return /^\d[\d-]{0,63}@(g\.us|lid)$/.test(text)
}

/** True for what can be the id of a group of the business API. */
export function isGroupId(text: string): boolean {
  return /^[\w+/=@.-]{1,512}$/.test(text)
}

/** True for a business-scoped user id: an ISO country, a dot, and up to 128 letters and digits. */
export function isUserId(text: string): boolean {
  return /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/.test(text)
}
