import { randomUUID } from 'node:crypto'
import type { CredentialsContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import { sha256 } from '../../lib/crypto/signature.js'
import type { Instance } from '../../model/instances/instance.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  changeInstanceNumber,
  deleteInstance as deleteInstanceRow,
  findInstanceById,
  insertInstance,
} from '../../storage/instances/instances.js'
import { deleteInstanceWebhook } from '../../storage/instances/webhooks.js'
import { enqueueNumberCheck } from '../../storage/numbers/number-states.js'
import { countWaitingForNumber, forgetNumberState } from '../../storage/numbers/numbers.js'
import { claimInDirectory, directoryHash } from '../../storage/organizations/directory.js'
import { registerOwnNumber } from './instance-number.js'
import { listNumbers } from './numbers.js'
import { requireTenant } from './suspension.js'

/** A further number with its credentials, in the clear. */
export interface FurtherNumber {
  phoneNumberId: string
  businessAccountId: string
  /** As WhatsApp writes it; null: it did not say. */
  display: string | null
  accessToken: string
  appSecret: string
  /** Null: it is stored once the upstream has verified the address with it. */
  verifyToken: string | null
}

/**
 * Stores a number beside the organization's own, as an instance, or changes its credentials. Throws already_taken if
 * another organization has the number.
 */
export async function putFurtherNumber(ctx: CredentialsContext, tenant: Tenant, number: FurtherNumber): Promise<void> {
  const { phoneNumberId } = number
  await ctx.database.transaction(async (transaction) => {
    if (!(await claimInDirectory(transaction, tenant.id, 'phone_number_id', phoneNumberId))) {
      throw new Problem('already_taken', `The phone_number_id ${phoneNumberId} is claimed by another organization`)
    }
    const columns = encrypt(ctx, tenant.id, number)
    const known = await changeInstanceNumber(transaction, tenant.id, columns)
    // Before the commit, because a worker may check the number right after it.
    await registerOwnNumber(ctx, known ?? (await insert(ctx, transaction, tenant, { number, columns })))
    await enqueueNumberCheck(transaction, tenant.id)
  })
  notify(ctx, tenant.id)
}

/**
 * Disconnects a number that is not the first; its conversations stay. Throws organization_not_found,
 * organization_suspended, not_found, invalid_field for the first one, and number_in_use while messages or broadcasts are
 * to be sent from it.
 */
export async function removeFurtherNumber(
  ctx: CredentialsContext,
  organizationId: string,
  phoneNumberId: string,
): Promise<void> {
  const tenant = await requireTenant(ctx, organizationId)
  const number = (await listNumbers(ctx, tenant)).find(({ phone_number_id }) => phone_number_id === phoneNumberId)
  if (number === undefined) {
    throw new Problem('not_found', `The organization has no business number with the id ${phoneNumberId}`)
  }
  const { instance_id: instanceId } = number
  if (instanceId === null) {
    throw new Problem(
      'invalid_field',
      `${phoneNumberId} is the organization's first number, which is not removed: connect another one in its place`,
    )
  }
  await ctx.database.transaction(async (transaction) => {
    const { scheduled, broadcasts } = await countWaitingForNumber(transaction, tenant.id, { instanceId, phoneNumberId })
    if (scheduled > 0 || broadcasts > 0) {
      throw new Problem(
        'number_in_use',
        `${scheduled} scheduled messages and ${broadcasts} broadcasts are to be sent from the number ${phoneNumberId}: wait for them, or cancel them first`,
      )
    }
    const instance = await findInstanceById(transaction, tenant.id, instanceId)
    if (instance === null) return
    await deleteInstanceRows(ctx, transaction, tenant, instance)
    await forgetNumberState(transaction, tenant.id, phoneNumberId)
  })
  notify(ctx, tenant.id)
}

/** Deletes an instance, its webhook and its entries in the directory; its messages stay. */
export async function deleteInstanceRows(
  { secrets }: Pick<CredentialsContext, 'secrets'>,
  transaction: Queryable,
  tenant: Tenant,
  { id, phone_number_id: number, token }: Instance,
): Promise<void> {
  const hashes = {
    tokenHash: directoryHash(secrets.open(token, `${tenant.id}:instance.token`)),
    numberHash: number === null || number === tenant.upstream?.phone_number_id ? null : directoryHash(number),
  }
  await deleteInstanceWebhook(transaction, tenant.id, id)
  await deleteInstanceRow(transaction, tenant.id, id, hashes)
}

type NumberColumns = ReturnType<typeof encrypt>

async function insert(
  { secrets }: Pick<CredentialsContext, 'secrets'>,
  transaction: Queryable,
  tenant: Tenant,
  { number, columns }: { number: FurtherNumber; columns: NumberColumns },
): Promise<Instance> {
  const token = randomUUID().toUpperCase()
  const row = {
    ...({ id: newId(), kind: 'business_api', state: 'open', settings: {} } as const),
    ...{ token: secrets.seal(token, `${tenant.id}:instance.token`), token_hash: directoryHash(token) },
    ...columns,
    number: number.phoneNumberId,
  }
  await claimInDirectory(transaction, tenant.id, 'instance_token', token)
  // The digits of the number; if an instance has that name already, the id.
  for (const name of [columns.owner, number.phoneNumberId]) {
    const instance = name === null ? null : await insertInstance(transaction, tenant.id, { ...row, name })
    if (instance !== null) return instance
  }
  throw new Problem('already_taken', `An instance has the name ${number.phoneNumberId} already: delete it first`)
}

function encrypt({ secrets }: Pick<CredentialsContext, 'secrets'>, organizationId: string, number: FurtherNumber) {
  const seal = (value: string, name: string) => secrets.seal(value, `${organizationId}:instance.${name}`)
  return {
    phone_number_id: number.phoneNumberId,
    business_account_id: number.businessAccountId,
    access_token: seal(number.accessToken, 'access_token'),
    app_secret: seal(number.appSecret, 'app_secret'),
    verify_token_hash: number.verifyToken === null ? null : sha256(number.verifyToken),
    owner: number.display?.replace(/\D/g, '') || null,
  }
}

/** Notifies the processes that deliver to webhooks, which know the numbers. */
function notify({ notifications }: Pick<CredentialsContext, 'notifications'>, organizationId: string): void {
  notifications.send({ topic: 'instances' })
  notifications.send({ topic: 'webhooks', organizationId })
}
