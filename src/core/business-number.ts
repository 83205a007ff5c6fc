import type { Context } from '../context.js'
import type { UpstreamSettings } from '../model/organization.js'
import type { BusinessNumber } from '../upstream/client.js'

/** An organization's number at the upstream, with its access token in clear. */
export function openBusinessNumber(
  { secrets }: Pick<Context, 'secrets'>,
  organizationId: string,
  { phone_number_id, access_token }: UpstreamSettings,
): BusinessNumber {
  return {
    phoneNumberId: phone_number_id,
    accessToken: secrets.open(access_token, `${organizationId}:upstream.access_token`),
  }
}
