import { toIso } from '../contacts/contact.js'

/** What an instance is connected with. */
export type InstanceKind = 'linked_device' | 'business_api' | 'sandbox'

/** How clients of the gateway name the kinds (contract 5). */
export const INTEGRATIONS: Record<string, InstanceKind> = {
  'WHATSAPP-BAILEYS': 'linked_device',
  'WHATSAPP-BUSINESS': 'business_api',
  SANDBOX: 'sandbox',
}

/** `connecting`: it shows a code to be scanned, or is on its way back. */
export type InstanceState = 'open' | 'connecting' | 'close'

/** A connected number or device, as its row is stored; what is sealed is sealed for `${organization_id}:instance.…`. */
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
  /** Sealed (`instance.token`): opens this instance alone. */
  token: Buffer
  /** As it was given when it was made. */
  number: string | null
  /** Digits of the number that is connected. */
  owner: string | null
  profile_name: string | null
  profile_picture_url: string | null
  /** Its number at the upstream, or at the simulator; null of a business number where the organization's own is used. */
  phone_number_id: string | null
  business_account_id: string | null
  /** Sealed (`instance.access_token`). */
  access_token: Buffer | null
  /** Sealed (`instance.app_secret`). */
  app_secret: Buffer | null
  settings: Record<string, unknown>
  qr_count: number
  /** Sealed (`instance.qrcode`), as an event holds it: the code that it shows; null where it shows none. */
  code: Buffer | null
  /** A linked device that some process is to keep connected. */
  wanted: boolean
  created_at: Date
  updated_at: Date
}

/** What events keep of an instance. */
export interface ShownInstance {
  id: string
  name: string
  kind: InstanceKind
  owner: string | null
  profile_name: string | null
  profile_picture_url: string | null
}

/** The name of the kind as clients know it. */
export function integrationOf(kind: InstanceKind): string {
  return Object.keys(INTEGRATIONS).find((name) => INTEGRATIONS[name] === kind) as string
}

/** The connection whose messages an instance shows: its own, or null where it is the organization's number. */
export function channelIdOf({
  id,
  kind,
  phone_number_id,
}: Pick<Instance, 'id' | 'kind' | 'phone_number_id'>): string | null {
  return kind === 'business_api' && phone_number_id === null ? null : id
}

/** The instance as the console shows it: nothing by which it could be used, or its number. */
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

/** A code by which a phone links an instance, as the console shows it. */
export interface ConsoleCode {
  /** Of the QR code; null where only a code to be typed is shown. */
  text: string | null
  /** The eight characters to be typed on the phone; null where no number was given. */
  pairing_code: string | null
  /** How many codes there have been since it was last closed. */
  count: number
  /** The QR code: data:image/png;base64,… */
  image: string | null
}

/** The digits of a phone's number, for a code to be typed on it; null where none is given. */
export function readLinkNumber(number: string | null | undefined): string | null {
  return number?.replace(/\D/g, '') || null
}
