import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { campaignVariants, normalizeUtm, readUtm } from '../../../src/model/broadcasts/utm.js'

const nothing = { source: null, campaign: null }

describe('the visit in a URL', () => {
  it.each([
    ['a whole address', 'https://shop.example/a?utm_source=whatsapp&utm_campaign=natal'],
    ['a path', '/a?utm_source=whatsapp&utm_campaign=natal'],
    ['a query alone', '?utm_campaign=natal&utm_source=whatsapp'],
    ['repeated keys: the first', '/?utm_campaign=natal&utm_source=whatsapp&utm_campaign=b&utm_source=c'],
    ['a fragment', '/?utm_source=whatsapp&utm_campaign=natal#utm_campaign=other'],
    ['a fragment with a question mark', '/?utm_source=whatsapp&utm_campaign=natal#/r?utm_campaign=other'],
    ['white space', '/?utm_source=+whatsapp%20&utm_campaign=%20natal+'],
    ['escapes', '/?utm%5Fsource=%77hatsapp&utm_campaign=n%61tal'],
    ['a second question mark', '/?utm_source=whatsapp&utm_campaign=natal&next=/?utm_campaign=other'],
    ['an address that cannot be parsed', 'http://[/?utm_source=whatsapp&utm_campaign=natal'],
  ])('is read: %s', (_title, address) => {
    expect(readUtm(address)).toEqual({ source: 'whatsapp', campaign: 'natal' })
  })

  it.each([
    ['a plus sign is a space', 'black+friday', 'black friday'],
    ['case stays', 'Natal_VM', 'Natal_VM'],
    ['other letters', 'promo%C3%A7%C3%A3o', 'promoção'],
    ['a broken escape stays unchanged', '50%25off-50%off', '50%off-50%off'],
    ['bytes that are not UTF-8', '%FF', '\uFFFD'],
    ['a character that cannot be stored', 'a%00b', 'a\uFFFDb'],
  ])('is read in any form: %s', (_title, written, campaign) => {
    expect(readUtm(`/?utm_campaign=${written}`)).toEqual({ source: null, campaign })
  })

  it.each([
    [null],
    [''],
    ['/wallets/checkouts.json'],
    ['utm_source=whatsapp&utm_campaign=natal'],
    ['/?utm_source=&utm_campaign=+'],
    ['/?utm_campaign=&utm_campaign=natal'],
    ['/?UTM_SOURCE=whatsapp&Utm_Campaign=natal'],
    ['/#?utm_source=whatsapp&utm_campaign=natal'],
    [`/?utm_campaign=${'x'.repeat(256)}`],
  ])('is empty for %j', (address) => {
    expect(readUtm(address)).toEqual(nothing)
  })

  it('is read from any URL without an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({ withQueryParameters: true })), (address) => {
        const { source, campaign } = readUtm(address)
        for (const value of [source, campaign]) expect(value === null || value.isWellFormed()).toBe(true)
      }),
    )
  })

  it('is read from any query that a browser writes', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 50 })
      .filter((text) => text.trim() === text && text.isWellFormed() && !text.includes('\0') && text.length <= 255)
    const base = fc.constantFrom('https://shop.example/a', '/a', '')
    fc.assert(
      fc.property(base, value, value, fc.string(), (path, source, campaign, fragment) => {
        const query = new URLSearchParams({ utm_source: source, utm_campaign: campaign })
        expect(readUtm(`${path}?${query}#${fragment}`)).toEqual({ source, campaign })
      }),
    )
  })
})

describe('the campaigns of a broadcast', () => {
  it('are its name and its name with each suffix', () => {
    expect(campaignVariants('Natal')).toEqual(['Natal', 'Natal_viewmore', 'Natal_view_more', 'Natal_vm'])
  })

  it('are found in any case, and no others are', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aBcÇé_-1'), minLength: 1, maxLength: 20 })
    const named = letters.chain((base) =>
      fc.record({ base: fc.constant(base), stem: fc.oneof(fc.constantFrom(base, base.toUpperCase()), letters) }),
    )
    const suffix = fc.constantFrom('', '_viewmore', '_view_more', '_vm', '_ViewMore', '_VM', 'vm', '_more', '_vm2')
    fc.assert(
      fc.property(named, suffix, ({ base, stem }, end) => {
        const [folded, start] = [normalizeUtm(stem + end), normalizeUtm(base)]
        const belongs = folded.startsWith(start) && /^(_viewmore|_view_more|_vm)?$/.test(folded.slice(start.length))
        expect(campaignVariants(base).map(normalizeUtm).includes(folded)).toBe(belongs)
      }),
    )
  })
})
