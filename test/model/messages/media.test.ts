import { expect, it } from 'vitest'
import { mediaExpiry } from '../../../src/model/messages/media.js'

it.each([
  ['2027-02-28T23:59:59.999Z', '2028-02-28T23:59:59.999Z'],
  ['2028-02-29T12:00:00.000Z', '2029-02-28T12:00:00.000Z'],
  ['2026-12-31T00:00:00.000Z', '2027-12-31T00:00:00.000Z'],
])('the link of a file sent at %s works until %s', (sentAt, expiry) => {
  expect(mediaExpiry(new Date(sentAt)).toISOString()).toBe(expiry)
})
