import { toIso } from '../contacts/contact.js'
import { type ConnectionStep, presentStep, type StepFinding } from './connection-steps.js'

/** What the upstream said about a number; its own words, null if it said nothing. */
export interface NumberFacts {
  display_phone_number?: string | null
  verified_name?: string | null
  status?: string | null
  name_status?: string | null
  quality_rating?: string | null
  throughput?: string | null
  messaging_limit?: string | null
  can_send?: string | null
  /** Where its messages are reported: the override that counts, else the app's address. */
  callback_url?: string | null
}

/** The state of an organization's number, as its row is stored. In events the dates are ISO strings. */
export interface NumberState {
  phone_number_id: string
  /** Null: not checked yet. */
  state: 'ok' | 'warning' | 'failed' | null
  facts: NumberFacts
  steps: StepFinding[]
  token_expires_at: Date | string | null
  checked_at: Date | string | null
  /** How many checks since then the upstream did not answer. */
  unanswered: number
  last_callback_at: Date | string | null
}

/** A number as the API and events show it. */
export interface ShownNumberState extends Required<NumberFacts> {
  phone_number_id: string
  state: 'ok' | 'warning' | 'failed' | null
  token_expires_at: string | null
  last_callback_at: string | null
  checked_at: string | null
  steps: ConnectionStep[]
}

/** A number's state with the texts of what was found. */
export function presentNumberState(number: NumberState): ShownNumberState {
  const { facts, steps, token_expires_at, checked_at, last_callback_at } = number
  return {
    phone_number_id: number.phone_number_id,
    display_phone_number: facts.display_phone_number ?? null,
    verified_name: facts.verified_name ?? null,
    state: number.state,
    status: facts.status ?? null,
    name_status: facts.name_status ?? null,
    quality_rating: facts.quality_rating ?? null,
    throughput: facts.throughput ?? null,
    messaging_limit: facts.messaging_limit ?? null,
    can_send: facts.can_send ?? null,
    callback_url: facts.callback_url ?? null,
    token_expires_at: toTime(token_expires_at),
    last_callback_at: toTime(last_callback_at),
    checked_at: toTime(checked_at),
    steps: steps.map(presentStep),
  }
}

function toTime(at: Date | string | null): string | null {
  return at === null ? null : toIso(new Date(at))
}
