import type { Context } from '../../context.js'
import type { PhoneHistory } from '../../model/organizations/phone-history.js'
import { listPhoneHistories } from '../../storage/callbacks/phone-histories.js'

/** What has been taken in of the histories of an organization's numbers; its own number first. */
export function listHistories(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<PhoneHistory[]> {
  return listPhoneHistories(database, organizationId)
}
