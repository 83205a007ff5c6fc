import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EXPLAINED_CODES, explainCode, withRemedy } from '../../../src/model/messages/upstream-codes.js'
import { anchorsOf } from '../../support/anchors.js'

const page = readFileSync('docs/connect-a-number.md', 'utf8')
const anchors = anchorsOf(page)
/** The codes of the page's table about sends: the first number of the second column. */
const ofSends = Array.from(
  page.slice(page.indexOf('### Sending'), page.indexOf('## Staying connected')).matchAll(/^\|[^|]*\| (\d+)/gm),
  ([, code]) => Number(code),
)

describe('the explanations of error codes', () => {
  it('lead to sections of the page, which names the code', () => {
    for (const [code, { link, remedy }] of Object.entries(EXPLAINED_CODES)) {
      expect(anchors).toContain(link.split('#')[1])
      expect([code, page.includes(code)]).toEqual([code, true])
      expect(remedy).not.toMatch(/\.$/)
    }
  })

  it('exist for every code of a send that the page lists', () => {
    expect(ofSends.length).toBeGreaterThan(4)
    expect(ofSends.filter((code) => explainCode(code, '') === null)).toEqual([])
  })

  it('are added to a text, and leave others as they are', () => {
    expect(withRemedy('Not registered.', 133010)).toBe(
      'Not registered. Register the number: connect it again, and give a PIN (docs/connect-a-number.md#registration)',
    )
    const unknown = "Unsupported post request. Object with ID '55' does not exist, cannot be loaded"
    expect(withRemedy(unknown, 100)).toMatch(/does not exist.*\(docs\/connect-a-number\.md#the-token\)$/)
    expect(withRemedy('The parameter to is required.', 100)).toBe('The parameter to is required.')
    expect(withRemedy('Undeliverable.', 131026)).toBe('Undeliverable.')
    expect(withRemedy('The phone is gone', 'phone_gone')).toBe('The phone is gone')
  })
})
