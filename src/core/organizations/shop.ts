import type { Context } from '../../context.js'
import type { Shop } from '../../storefront/client.js'

/** A storefront with its decrypted credential. */
export function openShop(
  { secrets }: Pick<Context, 'secrets'>,
  organizationId: string,
  { url, access_token }: { url: string; access_token: Buffer },
): Shop {
  return { url, accessToken: secrets.open(access_token, `${organizationId}:storefront.access_token`) }
}
