import { toStorable } from '../../lib/text/text.js'

/** Where a visit came from, as its address tells it; null = it does not. */
export interface Utm {
  source: string | null
  campaign: string | null
}

/** Longer ones are not taken: no campaign is named so, and an index holds no more. */
const MAX_LENGTH = 255

/** What may stand behind a campaign's name in the addresses that its messages lead to (spec 4.5). */
const SUFFIXES = ['_viewmore', '_view_more', '_vm']

/** Finds the suffix of a folded campaign; PostgreSQL reads it the same. */
export const SUFFIX_PATTERN = `(${SUFFIXES.join('|')})$`

/**
 * The utm_source and utm_campaign of an address, which may be whole or no more than a path. Read as browsers read a query, which
 * never fails: `+` is a space, broken escapes stand for themselves, of a repeated key the first one counts. A fragment is not
 * looked at. Both are as they stand there, but for white space around them.
 */
export function readUtm(address: string | null): Utm {
  const query = /^[^#?]*\?([^#]*)/s.exec(address ?? '')?.[1] ?? ''
  const parameters = new URLSearchParams(query)
  return {
    source: toUtmValue(parameters.get('utm_source')),
    campaign: toUtmValue(parameters.get('utm_campaign')),
  }
}

/** A value as it is kept; null for one that says nothing or is too long. */
export function toUtmValue(value: string | null): string | null {
  const text = toStorable(value ?? '').trim()
  return text === '' || text.length > MAX_LENGTH ? null : text
}

/** A source or campaign as it is compared: case does not count (contract 4, Analytics). */
export function normalizeUtm(value: string): string {
  return value.toLowerCase()
}

/** The folded campaigns to which an order with a folded campaign belongs: its own, and what it is without a suffix. */
export function campaignBases(campaign: string): string[] {
  return [campaign, campaign.replace(new RegExp(SUFFIX_PATTERN), '')]
}

/** The campaigns that belong to one: itself, and its name with each suffix of spec 4.5. */
export function campaignVariants(campaign: string): string[] {
  return ['', ...SUFFIXES].map((suffix) => campaign + suffix)
}
