import type { InstanceKind } from '../types.js'

/** What the form of a new instance holds. */
export interface InstanceValues {
  name: string
  kind: InstanceKind
  /** Of a business number: whether it is one of the instance's own, with what follows. */
  is_own: boolean
  /** The number's id at the upstream. */
  number: string
  business_account_id: string
  access_token: string
  app_secret: string
  verify_token: string
}
