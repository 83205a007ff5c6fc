import { toIso } from '../contacts/contact.js'
import { readDigits } from '../contacts/written-number.js'
import type { Tenant } from '../organizations/organization.js'
import type { Restriction } from '../organizations/restriction.js'

/** How an instance connects. */
export type InstanceKind = 'linked_device' | 'business_api' | 'sandbox'

/** The names of the kinds in the gateway. */
export const INTEGRATIONS: Record<string, InstanceKind> = {
  'WHATSAPP-BAILEYS': 'linked_device',
  'WHATSAPP-BUSINESS': 'business_api',
  SANDBOX: 'sandbox',
}

/** `connecting`: it shows a code to be scanned, or reconnects. */
export type InstanceState = 'open' | 'connecting' | 'close'

/**
 * A connected number or device, as its row is stored. Encrypted fields are bound to `${organization_id}:instance.…`.
 */
export interface Instance {
  organization_id: string
  id: string
  /** Unique in its organization. */
  name: string
  kind: InstanceKind
  state: InstanceState
  /** The network's code of the last close. */
  state_code: number | null
  state_changed_at: Date
  /** Encrypted (`instance.token`): opens only this instance. */
  token: Buffer
  /** As given at creation. */
  number: string | null
  /** Digits of the connected number. */
  owner: string | null
  profile_name: string | null
  profile_picture_url: string | null
  /** Its number at the upstream or the simulator; null for a business number that uses the organization's own. */
  phone_number_id: string | null
  business_account_id: string | null
  /** Encrypted (`instance.access_token`). */
  access_token: Buffer | null
  /** Encrypted (`instance.app_secret`). */
  app_secret: Buffer | null
  settings: Record<string, unknown>
  /** Messages per second that the upstream allows its number; null: not read yet. */
  throughput: number | null
  /** What the upstream refuses to send from its number. */
  restrictions: Restriction[] | null
  qr_count: number
  /** Encrypted (`instance.qrcode`): the code that it shows, in the format of events; null if it shows none. */
  code: Buffer | null
  /** Whether a process should keep this linked device connected. */
  wanted: boolean
  created_at: Date
  updated_at: Date
}

/** What identifies an instance. */
export type InstanceKey = Pick<Instance, 'organization_id' | 'id'>

/** The fields of an instance that events contain. */
export interface ShownInstance {
  id: string
  name: string
  kind: InstanceKind
  owner: string | null
  profile_name: string | null
  profile_picture_url: string | null
}

/** The name of the kind for clients. */
export function integrationOf(kind: InstanceKind): string {
  return Object.keys(INTEGRATIONS).find((name) => INTEGRATIONS[name] === kind) as string
}

/** The channel whose messages an instance shows: its own, or null for the organization's number. */
export function channelIdOf({
  id,
  kind,
  phone_number_id,
}: Pick<Instance, 'id' | 'kind' | 'phone_number_id'>): string | null {
  return kind === 'business_api' && phone_number_id === null ? null : id
}

/** The number of the upstream that only this instance of the organization has; null: it has none, or the organization's. */
export function ownNumberOf(
  { kind, phone_number_id }: Pick<Instance, 'kind' | 'phone_number_id'>,
  { upstream }: Pick<Tenant, 'upstream'>,
): string | null {
  return kind === 'business_api' && phone_number_id !== upstream?.phone_number_id ? phone_number_id : null
}

/** The instance as the console shows it, without secrets and numbers. */
export function presentInstance(instance: Instance) {
  const { id, name, kind, state, state_code, number, owner, profile_name, created_at, updated_at } = instance
  return {
    id,
    name,
    kind,
    state,
    state_code,
    number,
    owner,
    profile_name,
    created_at: toIso(created_at),
    updated_at: toIso(updated_at),
  }
}

export type ConsoleInstance = ReturnType<typeof presentInstance>

/** A code for linking a phone, as the console shows it. */
export interface ConsoleCode {
  /** The content of the QR code; null if only a pairing code is shown. */
  text: string | null
  /** The eight characters to type on the phone; null if no number was given. */
  pairing_code: string | null
  /** How many codes were shown since the instance was last closed. */
  count: number
  /** The QR code: data:image/png;base64,… */
  image: string | null
}

/** The digits of a phone's number, for a pairing code; null if none is given. What is no number is refused by its digits. */
export function readLinkNumber(number: string | null | undefined): string | null {
  return number ? (readDigits(number) ?? number.replace(/\D/g, '')) || null : null
}
