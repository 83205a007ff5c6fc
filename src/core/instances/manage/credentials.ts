import { randomBytes } from 'node:crypto'
import type { Context } from '../../../context.js'
import { sha256 } from '../../../lib/crypto/signature.js'
import type { InstanceKind } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import type { BusinessNumber } from '../../../upstream/client.js'
import { requireUpstream } from '../../organizations/business-number.js'
import { requireOpenedNumber } from '../../organizations/upstream-proof.js'
import { requireSandboxes } from '../sessions/device.js'
import { requireLinkedLibrary } from '../sessions/linked-library.js'

/** Characters that are allowed in a header. */
export const HEADER_TEXT = /^[\x21-\x7e]+$/

/** The interface's names of the fields, for errors. */
export type InstanceFieldNames = Record<'name' | 'accessToken' | 'businessId' | 'appSecret' | 'verifyToken', string>

/** The fields of a new instance. */
export interface InstanceFields {
  fieldNames: InstanceFieldNames
  name: string
  kind: InstanceKind
  /** Opens the instance; generated if absent. For an own number without `accessToken`, it is also the access token. */
  token?: string | undefined
  /** The access token of an own number. */
  accessToken?: string | undefined
  /** For a business number: its id at the upstream. */
  number?: string | undefined
  businessId?: string | undefined
  /** Signs the callbacks of an own number. */
  appSecret?: string | undefined
  /** With it, the upstream verifies the callback address of an own number. */
  verifyToken?: string | undefined
  settings?: Record<string, unknown>
}

/** An own number of the instance, in clear. */
export interface Credentials extends BusinessNumber {
  businessAccountId: string | null
  appSecret: string | null
  verifyToken: string | null
}

/**
 * The own number of a new instance, at the upstream or the simulator; null if it has none. A number at the upstream
 * must be readable with its access token. Throws missing_field, invalid_field, invalid_provider, not_supported,
 * upstream_credentials, upstream_unavailable.
 */
export async function chooseCredentials(
  ctx: Context,
  tenant: Tenant,
  fields: InstanceFields,
): Promise<Credentials | null> {
  switch (fields.kind) {
    case 'linked_device':
      await requireLinkedLibrary(ctx)
      return null
    case 'sandbox':
      requireSandboxes(ctx)
      return {
        phoneNumberId: `${tenant.id}/${fields.name}`,
        businessAccountId: null,
        accessToken: randomBytes(32).toString('base64url'),
        appSecret: randomBytes(32).toString('base64url'),
        verifyToken: null,
      }
    case 'business_api': {
      const { number } = fields
      if (!number) refuseCredentials(tenant, fields)
      if (!number || number === tenant.upstream?.phone_number_id) {
        requireUpstream(tenant)
        return null
      }
      const own = readOwnNumber(number, fields)
      // The simulator accepts any number; it is registered there instead.
      if (ctx.linkWithSimulator === null || !(await ctx.isSimulated())) await requireOpenedNumber(ctx, own)
      return own
    }
  }
}

/** Without a number the credentials would be ignored and the organization's number be used. */
function refuseCredentials(
  { upstream }: Tenant,
  { accessToken, appSecret, verifyToken, fieldNames, ...fields }: InstanceFields,
): void {
  const businessId = fields.businessId === upstream?.business_account_id ? undefined : fields.businessId
  const given = { accessToken, businessId, appSecret, verifyToken }
  const name = (Object.keys(given) as (keyof typeof given)[]).find((field) => given[field])
  if (name === undefined) return
  throw new Problem(
    'missing_field',
    `number is required with ${fieldNames[name]}: the id of a number at the upstream. For the organization's own number leave both out`,
  )
}

function readOwnNumber(number: string, { token, accessToken, fieldNames, ...fields }: InstanceFields): Credentials {
  if (!/^\d{5,20}$/.test(number)) {
    throw new Problem('invalid_field', 'number must be the id of a number at the upstream: 5 to 20 digits')
  }
  if (accessToken && !HEADER_TEXT.test(accessToken)) {
    throw new Problem('invalid_field', `${fieldNames.accessToken} must be of printable ASCII without spaces`)
  }
  const credential = accessToken || token
  if (!credential) {
    throw new Problem(
      'missing_field',
      `${fieldNames.accessToken} is required: the access token of the number ${number}`,
    )
  }
  return {
    phoneNumberId: number,
    businessAccountId: fields.businessId || null,
    accessToken: credential,
    appSecret: fields.appSecret || null,
    verifyToken: fields.verifyToken || null,
  }
}

/** The columns of an instance's own number, encrypted. */
export function encryptCredentials({ secrets }: Context, organizationId: string, credentials: Credentials | null) {
  const encrypt = (value: string | null | undefined, name: string) =>
    value ? secrets.seal(value, `${organizationId}:instance.${name}`) : null
  return {
    phone_number_id: credentials?.phoneNumberId ?? null,
    business_account_id: credentials?.businessAccountId ?? null,
    access_token: encrypt(credentials?.accessToken, 'access_token'),
    app_secret: encrypt(credentials?.appSecret, 'app_secret'),
    verify_token_hash: credentials?.verifyToken ? sha256(credentials.verifyToken) : null,
  }
}
