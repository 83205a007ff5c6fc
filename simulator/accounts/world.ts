/** The id of the object whose callbacks the platform reports. */
export const callbackObject = 'whatsapp_business_account'

/** An app. Its own token is `{id}|{secret}`. */
export interface SimulatedApp {
  id: string
  name: string
  secret: string
  /** Only a published app gets callbacks of people's messages. */
  published: boolean
  /** Whether every call must carry an appsecret_proof. */
  requires_proof: boolean
  callback_url: string | null
  fields: string[]
}

/** A business account. */
export interface SimulatedAccount {
  id: string
  name: string
  /** The business portfolio that owns it; null: none. */
  business_id: string | null
  /** The apps that are subscribed, each with the address that overrides the app's; null: none does. */
  subscriptions: Map<string, string | null>
  /** Without a payment method, templates are refused. */
  has_payment: boolean
  locked: boolean
}

/** The registration of a business number, and what the platform says about it. */
export interface NumberState {
  id: string
  account_id: string
  verified_name: string
  status: string
  code_verification_status: string
  name_status: string
  new_name_status: string
  quality_rating: string
  /** STANDARD or HIGH. */
  throughput: string
  /** SANDBOX: a test number, which writes to `recipients` only. */
  account_mode: 'LIVE' | 'SANDBOX'
  /** Also in the phone app, so it is registered and its override cannot be changed. */
  is_on_biz_app: boolean
  /** What was asked of its phone. */
  phone_data: string[]
  /** The PIN of two-step verification; null if it is off. */
  pin: string | null
  wrong_pins: number
  /** Further PINs are refused for a while: after too many (133008), or too fast ones (133009); null: they are not. */
  pin_refusal: 133008 | 133009 | null
  /** When it was registered or somebody tried to, in ms. */
  registrations: number[]
  /** When it was deleted in the phone app, in ms; null: long ago, or never. */
  deleted_at: number | null
  /** The digits that a test number may write to. */
  recipients: string[]
  /** The callback address of this number alone. */
  override: string | null
}

/** An access token. */
export interface SimulatedToken {
  token: string
  app_id: string
  user_id: string
  type: string
  scopes: string[]
  /** The business accounts that it opens. */
  accounts: string[]
  /** Which of them granular_scopes names; null: it leaves out target_ids. */
  targets: string[] | null
  /** Unix seconds; 0: never. */
  expires_at: number
  data_access_expires_at: number
}

/** What the platform knows of apps, business accounts, numbers and tokens. Callbacks follow it. */
export class World {
  readonly apps = new Map<string, SimulatedApp>()
  readonly accounts = new Map<string, SimulatedAccount>()
  readonly numbers = new Map<string, NumberState>()
  readonly tokens = new Map<string, SimulatedToken>()

  /** The account of a number that belongs to this world; undefined for one that a service only registered. */
  accountOf(phoneNumberId: string): SimulatedAccount | undefined {
    const number = this.numbers.get(phoneNumberId)
    return number && this.accounts.get(number.account_id)
  }

  clear(): void {
    for (const things of [this.apps, this.accounts, this.numbers, this.tokens]) things.clear()
  }
}

/** Low quality and limits are statuses, too; they are of registered numbers. */
const registered = new Set(['CONNECTED', 'FLAGGED', 'RATE_LIMITED', 'RESTRICTED'])

/** True if a number may send and gets callbacks. */
export function isRegistered({ status, account_mode, is_on_biz_app }: NumberState): boolean {
  return registered.has(status) || account_mode === 'SANDBOX' || is_on_biz_app
}
