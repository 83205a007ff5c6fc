import { expect, it } from 'vitest'
import {
  askingStep,
  choicesOf,
  NO_VALUES,
  withoutChoices,
  withSecret,
} from '../../../../../../console/src/pages/settings/number/connect/choices.js'
import type { ConnectionStep } from '../../../../../../console/src/pages/settings/types.js'

const chosen = { ...NO_VALUES, app_secret: 'b', phone_number_id: '1', callbacks: 'app', pin: '123456' }

it('forgets what was chosen when another token or secret is given', () => {
  expect(withSecret(chosen, 'access_token', 'a')).toEqual({ ...NO_VALUES, access_token: 'a', app_secret: 'b' })
  expect(withSecret(chosen, 'app_secret', 'c')).toEqual({ ...NO_VALUES, app_secret: 'c' })
})

it('tells what was chosen, which can be forgotten', () => {
  expect(choicesOf(chosen)).toEqual([
    { field: 'phone_number_id', value: '1' },
    { field: 'callbacks', value: 'app' },
  ])
  expect(choicesOf(withoutChoices(chosen))).toEqual([])
})

it('asks first for what must be answered', () => {
  const step = (state: string, field?: string) => ({ state, field }) as unknown as ConnectionStep
  const may = step('warning', 'pin')
  const must = step('choose', 'callbacks')
  expect(askingStep([step('ok'), may, must])).toBe(must)
  expect(askingStep([step('ok'), may])).toBe(may)
  expect(askingStep([step('ok')])).toBeUndefined()
})
