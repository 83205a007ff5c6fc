import type { InstanceKind } from '../types.js'

/** Values of the form for a new instance. */
export interface InstanceValues {
  name: string
  kind: InstanceKind
  /** For a business number: whether it uses the credentials below instead of the organization's. */
  is_own: boolean
  /** The number's id at WhatsApp. */
  number: string
  business_account_id: string
  access_token: string
  app_secret: string
  verify_token: string
}
