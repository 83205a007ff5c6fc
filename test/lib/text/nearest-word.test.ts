import { describe, expect, it } from 'vitest'
import { nearestWord } from '../../../src/lib/text/nearest-word.js'

const WORDS = ['phone_number', 'media_url', 'name', 'default_country', 'text']

describe('the nearest word', () => {
  it.each([
    ['phone_nubmer', 'phone_number'],
    ['phoneNumber', 'phone_number'],
    ['PHONE-NUMBER', 'phone_number'],
    ['media', 'media_url'],
    ['nme', 'name'],
    ['defaultcountry', 'default_country'],
    ['txt', 'text'],
  ])('of %s is %s', (misspelt, meant) => {
    expect(nearestWord(misspelt, WORDS)).toBe(meant)
  })

  it.each(['colour', '', '_', 'q', 'zzzz', 'x'.repeat(1_000_000)])('of an unrelated word is null', (word) => {
    expect(nearestWord(word, WORDS)).toBeNull()
  })
})
