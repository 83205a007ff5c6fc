import { describe, expect, it } from 'vitest'
import { describeStep } from '../../../../console/src/i18n/connecting/describe-step.js'
import { STEP_TEXTS } from '../../../../console/src/i18n/connecting/pt.js'
import {
  CONNECTION_REASONS,
  type ConnectionReason,
  presentStep,
} from '../../../../src/model/organizations/connection-steps.js'

const named = (text = ''): string[] => text.match(/\{\w+\}/g) ?? []

describe('the steps of connecting a number in Portuguese', () => {
  it('name only values that the English texts have, and say what to do where these do', () => {
    const wrong = Object.entries(CONNECTION_REASONS).filter(([reason, english]) => {
      const text = STEP_TEXTS[reason as ConnectionReason]
      const remedy = 'remedy' in english ? english.remedy : undefined
      const values = named(`${english.sentence} ${remedy ?? ''}`)
      const isStrange = named(`${text.sentence} ${text.remedy ?? ''}`).some((name) => !values.includes(name))
      return isStrange || (remedy === undefined) !== (text.remedy === undefined)
    })
    expect(wrong.map(([reason]) => reason)).toEqual([])
  })

  it('show times as the page does, and the service’s English for a newer reason', () => {
    const step = presentStep({ reason: 'received_lately', values: { at: '2026-03-02T09:00:00.000Z' } })
    const shown = describeStep(STEP_TEXTS, step, () => '2 de mar.')
    expect(shown.sentence).toBe('O último callback chegou em 2 de mar.')
    const { sentence, remedy } = step
    expect(describeStep({}, step, String)).toEqual({ sentence, remedy })
    expect(describeStep(null, step, String)).toEqual({ sentence, remedy })
  })
})
