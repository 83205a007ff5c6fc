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

/** The languages that the upstream lists for templates (docs/upstream-templates.md). */
export const TEMPLATE_LANGUAGES: readonly string[] = (
  'af sq ar ar_EG ar_AE ar_LB ar_MA ar_QA az be_BY bn bn_IN bg ca zh_CN zh_HK zh_TW hr cs da prs_AF nl nl_BE en en_GB ' +
  'en_US en_AE en_AU en_CA en_GH en_IE en_IN en_JM en_MY en_NZ en_QA en_SG en_UG en_ZA et fil fi fr fr_BE fr_CA fr_CH ' +
  'fr_CI fr_MA ka de de_AT de_CH el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb ps_AF fa ' +
  'pl pt_BR pt_PT pa ro ru sr si_LK sk sl es es_AR es_CL es_CO es_CR es_DO es_EC es_HN es_MX es_PA es_PE es_ES es_UY ' +
  'sw sv ta te th tr uk ur uz vi zu'
).split(' ')
