import type { Context } from '../../context.js'
import type { Instance } from '../../model/instance.js'
import type { Tenant } from '../../model/organization.js'
import type { BusinessNumber } from '../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from '../business-number.js'

/** The number at the upstream that an instance sends by: its own, else the organization's. Throws invalid_provider. */
export function openInstanceNumber(
  { secrets }: Pick<Context, 'secrets'>,
  tenant: Tenant,
  { phone_number_id, access_token }: Instance,
): BusinessNumber {
  if (phone_number_id === null || access_token === null) {
    return openBusinessNumber({ secrets }, tenant.id, requireUpstream(tenant))
  }
  const accessToken = secrets.open(access_token, `${tenant.id}:instance.access_token`)
  return { phoneNumberId: phone_number_id, accessToken }
}
