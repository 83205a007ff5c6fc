import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.js'
import type { Instance } from '../../model/instances/instance.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { BusinessNumber } from '../../upstream/client.js'
import { openBusinessNumber, requireUpstream } from './business-number.js'

/** The number through which an instance sends: its own, otherwise the organization's. Throws invalid_provider. */
export function openInstanceNumber(
  { secrets }: Pick<Context, 'secrets'>,
  tenant: Tenant,
  { phone_number_id, access_token, app_secret }: Instance,
): BusinessNumber {
  if (phone_number_id === null || access_token === null) {
    return openBusinessNumber({ secrets }, tenant.id, requireUpstream(tenant))
  }
  const accessToken = secrets.open(access_token, `${tenant.id}:instance.access_token`)
  const appSecret = app_secret && secrets.open(app_secret, `${tenant.id}:instance.app_secret`)
  return { phoneNumberId: phone_number_id, accessToken, appSecret }
}

/** Registers an instance's own number with the simulator, if one is in use. Throws if that fails. */
export async function registerOwnNumber(
  { secrets, linkWithSimulator }: Pick<Context, 'secrets' | 'linkWithSimulator'>,
  { organization_id, phone_number_id, business_account_id, access_token, app_secret }: Instance,
): Promise<void> {
  if (linkWithSimulator === null || phone_number_id === null || access_token === null) return
  await linkWithSimulator({
    phoneNumberId: phone_number_id,
    businessAccountId: business_account_id ?? phone_number_id,
    accessToken: secrets.open(access_token, `${organization_id}:instance.access_token`),
    // Callbacks of a number without an app secret are refused, so any secret will do.
    appSecret: app_secret
      ? secrets.open(app_secret, `${organization_id}:instance.app_secret`)
      : randomBytes(32).toString('base64url'),
  })
}
