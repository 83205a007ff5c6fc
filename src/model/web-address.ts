/** True for an address that a phone opens, or from which the upstream fetches a file. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
}
