import type { QuietWork } from './quiet-work.js'
import type { Stage } from './stage.js'

/** A running load of one tenant that could delay others. */
export interface Noise {
  /** How much of the backlog that it began with is left; without a backlog, how many requests are in flight. */
  remaining(): Promise<number>
  /**
   * Stops it, and drops what is left of its work. Throws if one of its requests got an unexpected answer.
   */
  stop(): Promise<void>
}

/** A kind of noise. */
export interface NoiseKind {
  name: string
  title: string
  /** Work of the same kind that the quiet tenant also does; null: only its rounds. */
  work: QuietWork | null
  /** A program that this noise needs. */
  needs?: 'ffmpeg'
  /** Resolves when the load has reached the service. */
  start(stage: Stage, amounts: Amounts): Promise<Noise>
}

/** How much noise is made. */
export interface Amounts {
  /** Requests with wrong signatures per second; null: as many as are answered. */
  junkPerSecond: number | null
  /** Bodies of many megabytes at a time. */
  largeBodies: number
  /** Callbacks that wait, of 100 messages each. */
  waitingCallbacks: number
  /** Recipients of each of the 50 broadcasts on a slow number. */
  recipients: number
  /** Messages that are scheduled for the same moment. */
  scheduled: number
  erasures: number
  /** Raw callbacks that are stored when contacts are erased. */
  storedCallbacks: number
  /** Messages that are searched; a tenth of them are in one conversation. */
  messages: number
  /** Events for an endpoint that hangs or fails. */
  events: number
  importedRows: number
  conversions: number
  replayed: number
}

/** For the tests, which compare orders and counts; larger amounts would only take longer. */
export const JOURNEY: Amounts = {
  junkPerSecond: null,
  largeBodies: 1,
  waitingCallbacks: 50,
  recipients: 20,
  scheduled: 300,
  erasures: 500,
  storedCallbacks: 10_000,
  messages: 30_000,
  events: 2_000,
  importedRows: 100_000,
  conversions: 24,
  replayed: 20_000,
}

/** For measuring. */
export const BENCH: Amounts = {
  junkPerSecond: 5_000,
  largeBodies: 4,
  waitingCallbacks: 200,
  recipients: 200,
  scheduled: 1_000,
  erasures: 1_000,
  storedCallbacks: 10_000,
  messages: 1_000_000,
  events: 10_000,
  importedRows: 1_000_000,
  conversions: 200,
  replayed: 100_000,
}
