import { type BusinessRefusal, whyNotBusiness } from '../../../channels/business-device.js'
import type { Instance } from '../../../model/instances/instance.js'
import { Problem } from '../../../model/problem.js'
import { requireOpen } from './find.js'

/**
 * Refuses what an instance's connection can never do, or not while it is closed, before anything that is to be looked up: whatever
 * a request names, this is what is wrong with it. Throws not_supported, instance_not_open.
 */
export function requireReady(instance: Instance, verb: BusinessRefusal): void {
  if (instance.kind === 'business_api') throw new Problem('not_supported', whyNotBusiness(verb))
  requireOpen(instance)
}
