import { randomUUID } from 'node:crypto'
import type { Context } from '../../../context.js'
import { isForeignKeyViolation, isUniqueViolation } from '../../../database/errors.js'
import type { Queryable } from '../../../database/pool.js'
import { errorMessage } from '../../../lib/text/error-message.js'
import type { Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { countInstances, insertInstance, type NewInstance } from '../../../storage/instances/instances.js'
import { claimInDirectory, directoryHash } from '../../../storage/organizations/directory.js'
import { isApiKey } from '../../identity/api-keys.js'
import {
  chooseCredentials,
  encryptCredentials,
  HEADER_TEXT,
  type InstanceFieldNames,
  type InstanceFields,
} from './credentials.js'
import { encryptSettings } from './settings.js'
import { registerWithSimulator } from './simulator.js'

/** An instance with its plain token. */
export interface CreatedInstance {
  instance: Instance
  token: string
}

const MAX_NAME_LENGTH = 100
const MIN_TOKEN_LENGTH = 24
const MAX_INSTANCES = 1_000
/** Retry-After if the simulator was not reached. */
const SIMULATOR_RETRY_SECONDS = 2
/** These words stand in the paths where the name does. */
const RESERVED_NAMES: readonly string[] = [
  ...['create', 'fetchInstances', 'connect', 'connectionState', 'restart', 'setPresence', 'logout', 'delete'],
]

/**
 * Creates an instance under the given id and runs `finish` in the same transaction; returns the result of `finish`. An
 * own number is accepted only if its access token can read it. Throws invalid_field, missing_field, instance_taken
 * (name, token or number in use), invalid_provider, upstream_credentials, upstream_unavailable, service_unavailable if
 * the simulator does not answer, not_supported for a kind that this service does not offer.
 */
export async function createInstance<Result>(
  ctx: Context,
  tenant: Tenant,
  { id, ...fields }: InstanceFields & { id: string },
  finish: (transaction: Queryable, created: CreatedInstance) => Promise<Result>,
): Promise<Result> {
  const name = checkName(fields.name, fields.fieldNames)
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
    settings: encryptSettings(ctx, tenant.id, fields.settings ?? {}),
    ...encryptCredentials(ctx, tenant.id, credentials),
  }
  return insert(ctx, tenant, { row, token, fieldNames: fields.fieldNames }, finish)
}

function checkName(given: string, fieldNames: InstanceFieldNames): string {
  const name = given.trim()
  if (RESERVED_NAMES.includes(name))
    throw new Problem('invalid_field', `${fieldNames.name} "${name}" is reserved: choose another name`)
  // Clients resolve . and .. in paths.
  if (name !== '' && name !== '.' && name !== '..' && name.length <= MAX_NAME_LENGTH && !/[/\\?#\p{Cc}]/u.test(name))
    return name
  throw new Problem(
    'invalid_field',
    `${fieldNames.name} must have 1 to ${MAX_NAME_LENGTH} characters, none of them / \\ ? # or a control character`,
  )
}

function checkToken(token: string | undefined): string | null {
  if (token === undefined || token === '') return null
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new Problem('invalid_field', `token must have at least ${MIN_TOKEN_LENGTH} characters, not ${token.length}`)
  }
  // Tokens must differ from API keys of organizations.
  if (HEADER_TEXT.test(token) && !isApiKey(token)) return token
  throw new Problem('invalid_field', 'token must be printable ASCII without spaces, and must not begin like an API key')
}

async function insert<Result>(
  ctx: Context,
  tenant: Tenant,
  { row, token, fieldNames }: { row: NewInstance; token: string; fieldNames: InstanceFieldNames },
  finish: (transaction: Queryable, created: CreatedInstance) => Promise<Result>,
): Promise<Result> {
  try {
    return await ctx.database.transaction(async (transaction) => {
      if ((await countInstances(transaction, tenant.id)) >= MAX_INSTANCES) {
        throw new Problem('forbidden', `The organization has ${MAX_INSTANCES} instances, the maximum`)
      }
      const instance = await insertInstance(transaction, tenant.id, row)
      if (instance === null) throw taken(`This name "${row.name}" is already in use.`)
      if (!(await claimInDirectory(transaction, tenant.id, 'instance_token', token))) throw tokenTaken(row, fieldNames)
      const number = row.phone_number_id
      if (number !== null && !(await claimInDirectory(transaction, tenant.id, 'phone_number_id', number))) {
        throw taken(`The number ${number} is already in use.`)
      }
      // Before the commit, so that a created instance can be used at once.
      await register(ctx, instance)
      return await finish(transaction, { instance, token })
    })
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw new Problem('organization_not_found', 'The organization has just been deleted')
    if (isUniqueViolation(error, 'instances_token')) throw tokenTaken(row, fieldNames)
    if (!isUniqueViolation(error, 'instances_number')) throw error
    throw taken(`The number ${row.phone_number_id} is already in use by another instance.`)
  }
}

async function register(ctx: Context, instance: Instance): Promise<void> {
  try {
    await registerWithSimulator(ctx, instance)
  } catch (error) {
    const text = errorMessage(error)
    throw new Problem(
      'service_unavailable',
      `The simulator cannot be reached: ${text}. No instance was created: try again`,
      {
        retry_after: SIMULATOR_RETRY_SECONDS,
      },
    )
  }
}

function taken(text: string): Problem {
  return new Problem('instance_taken', text)
}

/** Several numbers may share one access token, but a token opens one instance. */
function tokenTaken({ kind, phone_number_id }: NewInstance, { accessToken }: InstanceFieldNames): Problem {
  const isOwnNumber = kind === 'business_api' && phone_number_id !== null
  const advice = isOwnNumber ? `give the number's access token as ${accessToken}, and ` : ''
  return taken(`This token is already in use: ${advice}choose another token, or leave it out`)
}
