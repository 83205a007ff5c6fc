import type { Settings } from '../settings.js'

/** Whether a call for a list is one of those that are refused as too many; counts it. */
export function isListRefused(settings: Settings): boolean {
  if (settings.shop_limited_lists === 0) return false
  settings.shop_limited_lists -= 1
  return true
}
