import { expect, it } from 'vitest'
import { MEBIBYTE, sizeText } from '../../../src/lib/text/units.js'

it.each([
  [500 * 1_024, '500 KB'],
  [MEBIBYTE - 1, '1024 KB'],
  [MEBIBYTE, '1 MB'],
  [5 * MEBIBYTE, '5 MB'],
  [1.5 * MEBIBYTE, '1.5 MB'],
  [100, '0.1 KB'],
])('%i bytes read %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
