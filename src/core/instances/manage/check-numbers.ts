import type { NumberCheck } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { type GatewayNumber, readGatewayNumber } from '../../../model/instances/gateway-number.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { command } from '../sessions/device.js'

/**
 * Asks the network which numbers can be written to, in the given order; texts that are not numbers cannot. Throws
 * not_supported, instance_not_open, upstream_rejected, outcome_unknown.
 */
export async function checkNumbers(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  numbers: readonly string[],
): Promise<NumberCheck[]> {
  const readings = numbers.map((number) => readGatewayNumber(number, tenant.default_country))
  const asked = readings.flatMap((reading) => (reading === null ? [] : [nameOf(reading)]))
  const answer = (await command(ctx, tenant, instance, { verb: 'check_numbers', numbers: asked })) as NumberCheck[]
  let next = 0
  return numbers.map((number, index) => {
    const check = readings[index] === null ? undefined : answer[next++]
    return check ? { ...check, number } : { jid: unknownJid(number), exists: false, number }
  })
}

function nameOf(number: GatewayNumber): string {
  return number.kind === 'person' ? number.digits : number.jid
}

function unknownJid(number: string): string {
  return number.includes('@') ? number : `${number.replace(/\D/g, '')}@s.whatsapp.net`
}
