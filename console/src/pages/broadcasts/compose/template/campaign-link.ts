/** Maximum length of a stored campaign. */
const MAX_CAMPAIGN = 100

/** A campaign's name for URLs: lower case, words joined by hyphens. */
export function toCampaign(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CAMPAIGN)
}

/** The URL with the utm parameters that attribute an order to a campaign. Null if it is not a web address. */
export function withCampaign(address: string, source: string, campaign: string): string | null {
  const text = address.trim()
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  url.searchParams.set('utm_source', source)
  url.searchParams.set('utm_campaign', campaign)
  return url.href
}
