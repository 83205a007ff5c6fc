import type { Settings } from '../settings.js'

/** True if this request for a list gets a rate limit error; counts it. */
export function isListRefused(settings: Settings): boolean {
  if (settings.shop_limited_lists === 0) return false
  settings.shop_limited_lists -= 1
  return true
}
