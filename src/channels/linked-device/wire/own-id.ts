/** The network id of a message of ours, from which a status leads back to our id even after a crash. */
export function toNetworkId(messageId: string): string {
  return messageId.replaceAll('-', '').toUpperCase()
}

/** A UUIDv7 of the next decades; phones use ids of 32 hexadecimal digits too. */
const OURS = /^01[6-9A-F][0-9A-F]{9}7[0-9A-F]{3}[89AB][0-9A-F]{15}$/

/** Our id of the message with this network id; null if it is not one of ours. */
export function toMessageId(networkId: string): string | null {
  if (!OURS.test(networkId)) return null
  const hex = networkId.toLowerCase()
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
