import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  CONNECTION_REASONS,
  type ConnectionReason,
  presentStep,
  type StepFinding,
  stateOf,
} from '../../../src/model/organizations/connection-steps.js'
import { anchorsOf } from '../../support/anchors.js'

it.each(['found_by_a_later_version', 'toString'])('shows the reason %s, which this version does not know', (reason) => {
  const finding = { reason, values: { a: 1 } } as unknown as StepFinding
  expect(presentStep(finding)).toMatchObject({ reason, state: 'warning', sentence: reason, remedy: null, docs: null })
  expect(stateOf(finding)).toBe('warning')
})

it('leads from each reason that is not ok to a section of the docs that exists, and from ok to none', () => {
  const steps = Object.keys(CONNECTION_REASONS).map((reason) => presentStep({ reason: reason as ConnectionReason }))
  const wrong = steps.filter(
    ({ state, docs }) => (state === 'ok') !== (docs === null) || !(docs === null || exists(docs)),
  )
  expect(wrong.map(({ reason, docs }) => [reason, docs])).toEqual([])
})

function exists(link: string): boolean {
  const [page = '', anchor = ''] = link.split('#')
  return anchorsOf(readFileSync(page, 'utf8')).has(anchor)
}
