/**
 * What the upstream accepts of a message, in characters and items (docs/upstream.md). Requests are refused by these
 * limits before anything is sent, and the simulator refuses by the same ones.
 */
export const UPSTREAM_LIMITS = {
  text: 4096,
  caption: 1024,
  /** Contact cards. */
  cards: 257,
  // Of interactive messages.
  body: 1024,
  header: 60,
  footer: 60,
  buttons: 3,
  buttonId: 256,
  /** The text of a button, of every kind but one that opens a form. */
  title: 20,
  flowTitle: 30,
  sections: 10,
  sectionTitle: 24,
  /** In all sections together. */
  rows: 10,
  rowId: 200,
  rowTitle: 24,
  description: 72,
  /** The body of a list. */
  listBody: 4096,
  /** In all sections together. */
  products: 30,
  /** People that a number may block in one request, and in all. */
  blocked: { atOnce: 1_000, inAll: 64_000 },
  /** The bytes of a sticker that is not animated. */
  staticSticker: 100 * 1_024,
  /** The code of a button that copies one. */
  coupon: 20,
  /** The code of a limited-time offer. */
  offerCode: 15,
  carousel: { least: 2, most: 10, body: 160, lineBreaks: 2 },
} as const
