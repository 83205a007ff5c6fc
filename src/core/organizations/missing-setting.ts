import { Problem } from '../../model/problem.js'

/**
 * Throws missing_field for a setting that is neither given nor stored; `otherUrl` is the address that it is stored for.
 */
export function missingSetting(name: string, otherUrl?: string): never {
  const why = otherUrl === undefined ? 'none is stored yet' : `the stored one is for ${otherUrl} alone`
  throw new Problem('missing_field', `${name} is required: ${why}`)
}
