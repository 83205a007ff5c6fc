import { expect, it } from 'vitest'
import { presentCards } from '../../../../src/model/messages/shown/records.js'

it('a vCard is shown whole or not at all', () => {
  const vcardOf = (vcard: string) => presentCards([{ vcard }]).contacts[0]?.vcard
  const longest = 'x'.repeat(4_096)
  expect(vcardOf(longest)).toBe(longest)
  expect(vcardOf(`${longest}x`)).toBeNull()
})
