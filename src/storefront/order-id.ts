/** Ids fit into 64 bits. */
const ORDER_ID = /^(?:gid:\/\/shopify\/Order\/)?(\d{1,20})$/

/** The digits of an order id given as digits or as gid://shopify/Order/<digits>; null for anything else. */
export function readOrderId(value: string): string | null {
  return ORDER_ID.exec(value)?.[1] ?? null
}
