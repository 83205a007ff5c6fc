import { expect, it } from 'vitest'
import { presentStep, type StepFinding, stateOf } from '../../../src/model/organizations/connection-steps.js'

it.each(['found_by_a_later_version', 'toString'])('shows the reason %s, which this version does not know', (reason) => {
  const finding = { reason, values: { a: 1 } } as unknown as StepFinding
  expect(presentStep(finding)).toMatchObject({ reason, state: 'warning', sentence: reason, remedy: null })
  expect(stateOf(finding)).toBe('warning')
})
