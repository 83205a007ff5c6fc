import { randomBytes, randomUUID } from 'node:crypto'
import type { Context } from '../../context.js'
import { isForeignKeyViolation, isUniqueViolation } from '../../database/errors.js'
import type { Instance, InstanceKind } from '../../model/instance.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { claimInDirectory, directoryHash } from '../../storage/directory.js'
import { countInstances, insertInstance, type NewInstance } from '../../storage/instances.js'
import { isApiKey } from '../api-keys.js'
import { requireUpstream } from '../business-number.js'
import { requireSandboxes } from './device.js'
import { requireLinkedLibrary } from './linked-library.js'
import { registerSandbox } from './sandbox.js'

/** What an instance is made from (facts: instance/create). */
export interface InstanceFields {
  name: string
  kind: InstanceKind
  /** Opens the instance; of a business number with credentials of its own, its access token as well. Absent: one is made. */
  token?: string | undefined
  /** Of a business number: its id at the upstream. */
  number?: string | undefined
  businessId?: string | undefined
  /** Signs the callbacks of a number of its own. */
  appSecret?: string | undefined
  settings?: Record<string, unknown>
}

/** An instance with its token in clear. */
export interface CreatedInstance {
  instance: Instance
  token: string
}

const MAX_NAME_LENGTH = 100
const MIN_TOKEN_LENGTH = 24
const MAX_INSTANCES = 1_000
/** In paths they stand where in others the name does. */
const VERBS: readonly string[] = [
  ...['create', 'fetchInstances', 'connect', 'connectionState', 'restart', 'setPresence', 'logout', 'delete'],
]

/**
 * Makes an instance under the given id (contract 5). Throws invalid_field, instance_taken (a name, token or number that is in use),
 * invalid_provider, and not_supported for a kind that is not to be had here.
 */
export async function createInstance(
  ctx: Context,
  tenant: Tenant,
  fields: InstanceFields,
  id: string,
): Promise<CreatedInstance> {
  const name = checkName(fields.name)
  const token = checkToken(fields.token) ?? randomUUID().toUpperCase()
  const credentials = await chooseCredentials(ctx, tenant, { ...fields, name })
  const row: NewInstance = {
    id,
    name,
    kind: fields.kind,
    state: fields.kind === 'business_api' ? 'open' : 'close',
    token: ctx.secrets.seal(token, `${tenant.id}:instance.token`),
    token_hash: directoryHash(token),
    number: fields.number ?? null,
    owner: null,
    settings: fields.settings ?? {},
    ...sealCredentials(ctx, tenant.id, credentials),
  }
  return { instance: await insert(ctx, tenant, row, token), token }
}

function checkName(given: string): string {
  const name = given.trim()
  if (VERBS.includes(name))
    throw new Problem('invalid_field', `instanceName "${name}" is a word of the paths: choose another`)
  // Clients resolve . and .. in a path themselves.
  if (name !== '' && name !== '.' && name !== '..' && name.length <= MAX_NAME_LENGTH && !/[/\\?#\p{Cc}]/u.test(name))
    return name
  throw new Problem(
    'invalid_field',
    `instanceName must have 1 to ${MAX_NAME_LENGTH} characters, none of them / \\ ? # or a control character`,
  )
}

function checkToken(token: string | undefined): string | null {
  if (token === undefined || token === '') return null
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new Problem('invalid_field', `token must have at least ${MIN_TOKEN_LENGTH} characters, not ${token.length}`)
  }
  // It has to pass through a header, and to be told from the keys of organizations.
  if (/^[\x21-\x7e]+$/.test(token) && !isApiKey(token)) return token
  throw new Problem('invalid_field', 'token must be of printable ASCII without spaces, and not begin like an API key')
}

/** A number of the instance's own, in clear. */
interface Credentials {
  phoneNumberId: string
  businessAccountId: string | null
  accessToken: string
  appSecret: string | null
}

/** Null where the instance has no number of its own. */
async function chooseCredentials(
  ctx: Context,
  tenant: Tenant,
  { name, kind, number, token, businessId, appSecret }: InstanceFields,
): Promise<Credentials | null> {
  switch (kind) {
    case 'linked_device':
      await requireLinkedLibrary(ctx)
      return null
    case 'sandbox':
      requireSandboxes(ctx)
      return {
        phoneNumberId: `${tenant.id}/${name}`,
        businessAccountId: null,
        accessToken: randomBytes(32).toString('base64url'),
        appSecret: randomBytes(32).toString('base64url'),
      }
    case 'business_api': {
      if (!number || number === tenant.upstream?.phone_number_id) {
        requireUpstream(tenant)
        return null
      }
      return ownNumber(number, token, businessId, appSecret)
    }
  }
}

function ownNumber(number: string, token?: string, businessId?: string, appSecret?: string): Credentials {
  if (!/^\d{5,20}$/.test(number)) {
    throw new Problem('invalid_field', 'number must be the id of a number at the upstream: 5 to 20 digits')
  }
  if (!token) throw new Problem('missing_field', 'token is required: the access token of the number that number names')
  return {
    phoneNumberId: number,
    businessAccountId: businessId ?? null,
    accessToken: token,
    appSecret: appSecret ?? null,
  }
}

function sealCredentials({ secrets }: Context, organizationId: string, credentials: Credentials | null) {
  const seal = (value: string | null | undefined, name: string) =>
    value ? secrets.seal(value, `${organizationId}:instance.${name}`) : null
  return {
    phone_number_id: credentials?.phoneNumberId ?? null,
    business_account_id: credentials?.businessAccountId ?? null,
    access_token: seal(credentials?.accessToken, 'access_token'),
    app_secret: seal(credentials?.appSecret, 'app_secret'),
  }
}

async function insert(ctx: Context, tenant: Tenant, row: NewInstance, token: string): Promise<Instance> {
  try {
    return await ctx.database.transaction(async (transaction) => {
      if ((await countInstances(transaction, tenant.id)) >= MAX_INSTANCES) {
        throw new Problem('forbidden', `The organization has ${MAX_INSTANCES} instances, and may have no more`)
      }
      const instance = await insertInstance(transaction, tenant.id, row)
      if (instance === null) throw taken(`This name "${row.name}" is already in use.`)
      if (!(await claimInDirectory(transaction, tenant.id, 'instance_token', token))) throw tokenTaken()
      const number = row.phone_number_id
      if (number !== null && !(await claimInDirectory(transaction, tenant.id, 'phone_number_id', number))) {
        throw taken(`The number ${number} is already in use.`)
      }
      // Before the commit: what is there can be connected.
      if (instance.kind === 'sandbox') await registerSandbox(ctx, instance)
      return instance
    })
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw new Problem('organization_not_found', 'The organization has just been deleted')
    if (!isUniqueViolation(error)) throw error
    throw isUniqueViolation(error, 'instances_number')
      ? taken(`The number ${row.phone_number_id} is already in use by another instance.`)
      : tokenTaken()
  }
}

function taken(text: string): Problem {
  return new Problem('instance_taken', text)
}

function tokenTaken(): Problem {
  return taken('This token is already in use: choose another one, or leave it out')
}
