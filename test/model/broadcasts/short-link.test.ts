import { describe, expect, it } from 'vitest'
import { readShortCode } from '../../../src/model/broadcasts/short-link.js'
import { isLinkPreview } from '../../../src/model/messages/link-preview.js'

describe('the short code in a button parameter', () => {
  it.each([
    ['aB3-_x9', 'aB3-_x9'],
    [' aB3x9 ', 'aB3x9'],
    ['aB3x9?utm_content=1', 'aB3x9'],
    ['aB3x9#top', 'aB3x9'],
    ['offers/abc?x=1', 'abc'],
    ['offers/abc/', 'abc'],
    ['https://chat.example/s/abc?x=/y', 'abc'],
  ])('of %j is %s', (value, code) => {
    expect(readShortCode(value)).toBe(code)
  })

  it.each(['', '/', 'ab', 'a b c', 'ção', '?abc', 'abc/d', 'x'.repeat(65), 'abc\n/'])('is missing in %j', (value) => {
    expect(readShortCode(value)).toBeNull()
  })
})

describe('a request that opens links automatically', () => {
  it.each([
    'WhatsApp/2.24.1.1 A',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'TelegramBot (like TwitterBot)',
  ])('is recognized: %s', (userAgent) => {
    expect(isLinkPreview(userAgent)).toBe(true)
  })

  it.each([
    '',
    'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Linux; Android 14) Chrome/120.0 Mobile Safari/537.36 WhatsApp/2.24',
  ])('is not assumed for %s', (userAgent) => {
    expect(isLinkPreview(userAgent)).toBe(false)
  })
})
