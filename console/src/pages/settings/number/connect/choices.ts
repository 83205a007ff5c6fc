import type { ConnectionStep } from '../../types.js'

/** What the form of a connection sends. */
export interface ConnectValues {
  access_token: string
  app_secret: string
  phone_number_id: string
  business_account_id: string
  pin: string
  callbacks: string
  send_to: string
  /** Beside the numbers that are connected. */
  further: boolean
}

const NO_CHOICES = { phone_number_id: '', business_account_id: '', pin: '', callbacks: '' }
/** Choices that stay for the next attempts. */
const KEPT = ['phone_number_id', 'business_account_id', 'callbacks'] as const

export const NO_VALUES: ConnectValues = {
  access_token: '',
  app_secret: '',
  send_to: '',
  further: false,
  ...NO_CHOICES,
}

/** The values with a new secret. What was chosen for the number or the app of another one is forgotten. */
export function withSecret(values: ConnectValues, name: 'access_token' | 'app_secret', secret: string): ConnectValues {
  return { ...values, ...NO_CHOICES, [name]: secret }
}

/** The values without any choice. */
export function withoutChoices(values: ConnectValues): ConnectValues {
  return { ...values, ...NO_CHOICES }
}

/** The choices that the next attempt sends. */
export function choicesOf(values: ConnectValues): { field: (typeof KEPT)[number]; value: string }[] {
  return KEPT.flatMap((field) => (values[field] === '' ? [] : [{ field, value: values[field] }]))
}

/** The step that asks for something: one that must be answered, else one that may be. */
export function askingStep(steps: readonly ConnectionStep[]): ConnectionStep | undefined {
  return steps.find(({ state }) => state === 'choose') ?? steps.find(({ field }) => field !== undefined)
}
