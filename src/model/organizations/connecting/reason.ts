/** How a step ended. `choose`: the caller has to decide something, and then call again. */
export type StepState = 'ok' | 'warning' | 'failed' | 'choose'

/** Something that a step can find. */
export interface Reason {
  state: StepState
  /** `{name}` stands for a value. */
  sentence: string
  /** What to do; ok needs nothing. */
  remedy?: string
  /** The upstream's page where it is done. */
  link?: string
  /** The section of the guide that describes it, if it is not the one of its step. */
  section?: string
}

/** What a step can find, by the name that programs see. */
export type Reasons = Readonly<Record<string, Reason>>
