import type { Context } from '../../context.js'
import type { Tenant, UpstreamSettings } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { BusinessNumber } from '../../upstream/client.js'

/** The upstream settings of an organization. Throws invalid_provider if it does not send through the upstream. */
export function requireUpstream({ provider, upstream }: Pick<Tenant, 'provider' | 'upstream'>): UpstreamSettings {
  if (provider !== 'upstream') {
    throw new Problem(
      'invalid_provider',
      `The organization's provider is ${provider ?? 'not set'}: sending needs the provider upstream`,
    )
  }
  if (!upstream) {
    throw new Problem(
      'invalid_provider',
      "The organization's provider is upstream, but its phone number id and access token are not configured",
    )
  }
  return upstream
}

/** An organization's number at the upstream, with its plain access token and app secret. */
export function openBusinessNumber(
  { secrets }: Pick<Context, 'secrets'>,
  organizationId: string,
  { phone_number_id, access_token, app_secret }: UpstreamSettings,
): BusinessNumber & { appSecret: string } {
  return {
    phoneNumberId: phone_number_id,
    accessToken: secrets.open(access_token, `${organizationId}:upstream.access_token`),
    appSecret: secrets.open(app_secret, `${organizationId}:upstream.app_secret`),
  }
}
