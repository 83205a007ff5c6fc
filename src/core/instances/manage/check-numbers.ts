import type { NumberCheck } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { type ContactNumber, readNumber } from '../../../model/contacts/written-number.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { settleReadings } from '../../contacts/numbers.js'
import { command } from '../commands/device.js'

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
  const readings = numbers.map((number) => readNumber(number, tenant.default_country, 'international'))
  const chosen = await settleReadings(ctx.database, tenant, readings)
  const asked = chosen.flatMap((number) => (number === null ? [] : [nameOf(number)]))
  const answer = (await command(ctx, tenant, instance, { verb: 'check_numbers', numbers: asked })) as NumberCheck[]
  let next = 0
  return numbers.map((number, index) => {
    const check = chosen[index] === null ? undefined : answer[next++]
    return check ? { ...check, number } : { jid: unknownJid(number), exists: false, number }
  })
}

function nameOf({ kind, digits, jid }: ContactNumber): string {
  return kind === 'group' || kind === 'lid' ? jid : digits
}

function unknownJid(number: string): string {
  return number.includes('@') ? number : `${number.replace(/\D/g, '')}@s.whatsapp.net`
}
