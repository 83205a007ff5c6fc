/** The time to live of a message that cannot be delivered, in seconds. */
interface TimeToLive {
  least: number
  most: number
  /** Whether −1, which means 30 days, is possible too. */
  orMonth: boolean
}

const UTILITY: TimeToLive = { least: 30, most: 43_200, orMonth: true }

/**
 * What the upstream accepts of a template, in characters and items (docs/upstream-templates.md). Templates are refused
 * by these limits before anything is sent, and the simulator refuses by the same ones.
 */
export const TEMPLATE_LIMITS = {
  name: 512,
  header: 60,
  body: 1024,
  footer: 60,
  buttons: 10,
  /** The text of a button. */
  button: 25,
  url: 2000,
  urls: 2,
  phoneNumber: 20,
  /** The example of a button that copies a code. */
  code: 20,
  voiceCall: { text: 20, leastMinutes: 1440, mostMinutes: 43_200 },
  carousel: { least: 2, most: 10, body: 160, buttons: 2 },
  offer: { text: 16, body: 600, code: 15 },
  /** The body below a product. */
  productBody: 160,
  /** Of a code, in minutes. */
  expiration: { least: 1, most: 90 },
  timeToLive: {
    AUTHENTICATION: { least: 30, most: 900, orMonth: true },
    UTILITY,
    MARKETING: { least: 43_200, most: 2_592_000, orMonth: false },
  } satisfies Record<string, TimeToLive>,
  /** How often an approved template may be edited. */
  edits: { perDay: 1, perMonth: 10 },
  /** In one account. */
  templates: 250,
} as const
