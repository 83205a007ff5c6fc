import type { ConnectionStepName, ReasonOf } from '../../../../../src/model/organizations/connection-steps.js'

/** What a step of connecting a number has found, and what to do. */
export interface StepText {
  sentence: string
  remedy?: string
}

/** The texts of all that a step can find. */
export type TextsOf<Step extends ConnectionStepName> = Record<ReasonOf<Step>, StepText>
