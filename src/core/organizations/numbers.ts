import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { type BusinessNumbers, type OwnNumber, toBusinessNumbers } from '../../model/organizations/own-number.js'
import { listNumberRows } from '../../storage/numbers/numbers.js'

/** The organization's business numbers, the first one first; each once. */
export async function listNumbers(
  { database }: Pick<Context, 'database'>,
  { id }: Pick<Tenant, 'id'>,
): Promise<OwnNumber[]> {
  const numbers = await listNumberRows(database, id)
  return numbers.filter(
    ({ phone_number_id }, index) => numbers.findIndex((one) => one.phone_number_id === phone_number_id) === index,
  )
}

/** The numbers of the organization's channels, for its messages. */
export async function findBusinessNumbers(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<BusinessNumbers> {
  return toBusinessNumbers(await listNumberRows(database, organizationId))
}
