/** The id under which the network knows a message of ours, so that a status brings our id back even after a crash. */
export function toNetworkId(messageId: string): string {
  return messageId.replaceAll('-', '').toUpperCase()
}

/** A UUIDv7 of this century's first decades; phones make ids of 32 hex digits too. */
const OURS = /^01[6-9A-F][0-9A-F]{9}7[0-9A-F]{3}[89AB][0-9A-F]{15}$/

/** Our id of the message that the network knows by `networkId`; null where it is not one of ours. */
export function toMessageId(networkId: string): string | null {
  if (!OURS.test(networkId)) return null
  const hex = networkId.toLowerCase()
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
