import { expect, it } from 'vitest'
import { TEMPLATE_LANGUAGES } from '../../../console/src/shared/template-languages.js'
import { TEMPLATE_LANGUAGES as OF_SERVICE } from '../../../src/upstream/template-limits.js'

it('offers the languages that the service takes', () => {
  expect(TEMPLATE_LANGUAGES).toEqual(OF_SERVICE)
})
