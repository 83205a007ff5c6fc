/** Whether a text is an address that WhatsApp and phones can open. */
export function isLink(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text)
}
