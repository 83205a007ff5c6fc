import type { NumberFacts, NumberState } from './number-state.js'
import type { Restriction } from './restriction.js'

/** A business number of an organization, without its secrets. */
export interface OwnNumber {
  /** The instance that it belongs to; null: it is the organization's own, which is the first. */
  instance_id: string | null
  instance_name: string | null
  phone_number_id: string
  /** Null: it was not given when the instance was created. */
  business_account_id: string | null
  /** The digits of the number as the instance knows them; null: it does not. */
  owner: string | null
  /** Messages per second that are sent at most; 0: unlimited. */
  messages_per_second: number
  /** What the upstream refuses to send from it. */
  restrictions: Restriction[] | null
  /** Null: not checked yet. */
  state: NumberState['state']
  facts: NumberFacts
}

/** The number as messages show it. */
export interface ShownBusinessNumber {
  phone_number_id: string
  /** Null: WhatsApp has not been asked yet. */
  phone_number: string | null
}

/** The number of a channel, by its instance (null: the organization's own); null: it has none, or is gone. */
export type BusinessNumbers = (instanceId: string | null) => ShownBusinessNumber | null

/** The phone number with its country code, digits only; null if it is not known. */
export function digitsOfNumber({ facts, owner }: Pick<OwnNumber, 'facts' | 'owner'>): string | null {
  return facts.display_phone_number?.replace(/\D/g, '') || owner || null
}

/** The number in few words, for errors. */
export function describeNumber(number: OwnNumber): string {
  const digits = digitsOfNumber(number)
  return digits === null ? number.phone_number_id : `+${digits} (${number.phone_number_id})`
}

/** The numbers by their instances. */
export function toBusinessNumbers(
  numbers: readonly Pick<OwnNumber, 'instance_id' | 'phone_number_id' | 'facts' | 'owner'>[],
): BusinessNumbers {
  const shown = new Map(
    numbers.map((number) => {
      const digits = digitsOfNumber(number)
      const phone_number = digits === null ? null : `+${digits}`
      return [number.instance_id, { phone_number_id: number.phone_number_id, phone_number }] as const
    }),
  )
  return (instanceId) => shown.get(instanceId) ?? null
}

/** The number as the API shows it. */
export function presentOwnNumber(number: OwnNumber) {
  const { instance_id, instance_name, phone_number_id, business_account_id, messages_per_second, state, facts } = number
  const digits = digitsOfNumber(number)
  return {
    phone_number_id,
    phone_number: digits === null ? null : `+${digits}`,
    name: facts.verified_name ?? null,
    is_first: instance_id === null,
    instance: instance_name,
    business_account_id,
    state,
    status: facts.status ?? null,
    quality: facts.quality_rating ?? null,
    messaging_limit: facts.messaging_limit ?? null,
    can_send: facts.can_send ?? null,
    throughput: facts.throughput ?? null,
    messages_per_second,
  }
}

export type ShownOwnNumber = ReturnType<typeof presentOwnNumber>

/** Whether a text names the number: its id, or its digits in any form. */
export function isNamed(number: OwnNumber, text: string, forms: readonly string[]): boolean {
  if (number.phone_number_id === text) return true
  const digits = digitsOfNumber(number)
  return digits !== null && forms.includes(digits)
}
