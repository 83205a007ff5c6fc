import { toStorable } from '../../lib/text/text.js'

/** The source of a visit, as its URL names it; null if it does not. */
export interface Utm {
  source: string | null
  campaign: string | null
}

/** Longer values are ignored; an index cannot hold them. */
const MAX_LENGTH = 255

/** Suffixes that a campaign's name may have in the URLs of its messages. */
const SUFFIXES = ['_viewmore', '_view_more', '_vm']

/** Matches the suffix of a normalized campaign, in PostgreSQL too. */
export const SUFFIX_PATTERN = `(${SUFFIXES.join('|')})$`

/**
 * The utm_source and utm_campaign of a URL or path. Parsed like a browser parses a query, which never fails: `+` is a
 * space, broken escapes stay as they are, and the first of repeated keys counts. Fragments are ignored. Values are
 * unchanged except for surrounding white space.
 */
export function readUtm(address: string | null): Utm {
  const query = /^[^#?]*\?([^#]*)/s.exec(address ?? '')?.[1] ?? ''
  const parameters = new URLSearchParams(query)
  return {
    source: toUtmValue(parameters.get('utm_source')),
    campaign: toUtmValue(parameters.get('utm_campaign')),
  }
}

/** A value as it is stored; null if it is empty or too long. */
export function toUtmValue(value: string | null): string | null {
  const text = toStorable(value ?? '').trim()
  return text === '' || text.length > MAX_LENGTH ? null : text
}

/** Normalizes a source or campaign for comparison, which ignores case. */
export function normalizeUtm(value: string): string {
  return value.toLowerCase()
}

/** The normalized campaigns of an order with the given campaign: the campaign itself, and its name without a suffix. */
export function campaignBases(campaign: string): string[] {
  return [campaign, campaign.replace(new RegExp(SUFFIX_PATTERN), '')]
}

/** The names of a campaign: itself, and with each suffix. */
export function campaignVariants(campaign: string): string[] {
  return ['', ...SUFFIXES].map((suffix) => campaign + suffix)
}
