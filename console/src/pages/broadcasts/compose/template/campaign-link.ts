/** Longer ones are not kept as a campaign. */
const MAX_CAMPAIGN = 100

/** A campaign's name as it stands in addresses: lower case, words joined by hyphens. */
export function toCampaign(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CAMPAIGN)
}

/** The address with the parameters by which an order is known to come from a campaign; null for what is no web address. */
export function withCampaign(address: string, source: string, campaign: string): string | null {
  const text = address.trim()
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  url.searchParams.set('utm_source', source)
  url.searchParams.set('utm_campaign', campaign)
  return url.href
}
