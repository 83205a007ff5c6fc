import type { Context } from '../../../context.js'
import { isUuid } from '../../../lib/bytes/id.js'
import { excerpt } from '../../../lib/text/text.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { addressesOf, readNumber } from '../../../model/contacts/written-number.js'
import { type Instance, ownNumberOf } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { describeNumber, isNamed, type OwnNumber } from '../../../model/organizations/own-number.js'
import { Problem } from '../../../model/problem.js'
import { findInstanceById } from '../../../storage/instances/instances.js'
import { findChannelOfMessage } from '../../../storage/numbers/numbers.js'
import { listNumbers } from '../../organizations/numbers.js'
import { type Channel, furtherChannel, organizationChannel } from './channel.js'

/** A contact with what decides its number. */
export type NumberedContact = Pick<Contact, 'id' | 'wrote_to' | 'business_group'>

/** How the number of a message is chosen. */
export interface NumberChoice {
  /** A phone number or an id, as it was given; null: the default. */
  from: string | null
  /** Templates belong to a business account. */
  isTemplate: boolean
}

/**
 * The channel of the business number that sends to a contact (null: it is not known yet), which is asked for when the
 * contact is found. `replyTo`: the message that is answered, by one of its ids.
 */
export type OpenNumber = (contact: NumberedContact | null, replyTo?: string | null) => Promise<Channel>

/**
 * Chooses the number that sends: `from`, else the one that the answered message went through, else the one that the
 * contact last wrote to, else the organization's first. A group has one number. Throws invalid_field if `from` is none
 * of the organization's numbers, and invalid_provider if it has no first one.
 */
export async function chooseNumber(ctx: Context, tenant: Tenant, choice: NumberChoice): Promise<OpenNumber> {
  const { from, isTemplate } = choice
  if (from !== null) {
    const channel = await openNumber(ctx, tenant, await requireNumberOf(ctx, tenant, choice))
    return () => Promise.resolve(channel)
  }
  const first = organizationChannel(ctx, tenant)
  if (!tenant.has_further_numbers) return () => Promise.resolve(first)
  return async (contact, replyTo = null) => {
    const instanceId = contact && (await findDefault(ctx, tenant, contact, replyTo))
    if (instanceId === null) return first
    const instance = await findInstanceById(ctx.database, tenant.id, instanceId)
    return instance && isUsable(tenant, instance, isTemplate) ? furtherChannel(ctx, tenant, instance) : first
  }
}

/** The number that `from` names. Throws invalid_field. */
export async function requireNumberOf(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  { from, isTemplate }: { from: string | null; isTemplate: boolean },
): Promise<OwnNumber> {
  const given = from ?? ''
  const numbers = await listNumbers(ctx, tenant)
  const forms = addressesOf(readNumber(given, tenant.default_country, 'api'))
  const number = numbers.find((one) => isNamed(one, given.trim(), forms))
  if (number === undefined) {
    const known = numbers.length === 0 ? 'it has none' : numbers.map(describeNumber).join(', ')
    throw new Problem(
      'invalid_field',
      `from "${excerpt(given)}" is not a business number of this organization (${known}): give one of them, by its phone number or its id`,
    )
  }
  if (isTemplate && !hasTemplatesOf(tenant, number)) {
    throw new Problem(
      'invalid_field',
      `from ${describeNumber(number)} is in another business account than the templates, ${tenant.upstream?.business_account_id}: give a number of that account, or leave from out`,
    )
  }
  return number
}

/** The channel of one of the organization's numbers. */
export async function openNumber(ctx: Context, tenant: Tenant, { instance_id }: OwnNumber): Promise<Channel> {
  if (instance_id === null) return organizationChannel(ctx, tenant)
  const instance = await findInstanceById(ctx.database, tenant.id, instance_id)
  if (instance === null) throw new Problem('instance_not_found', 'The number that was to send has just been removed')
  return furtherChannel(ctx, tenant, instance)
}

/** The numbers beside the first that broadcasts send from: those of the same business account. */
export function lanesOf(tenant: Tenant, numbers: readonly OwnNumber[]): OwnNumber[] {
  return numbers.filter((number) => number.instance_id !== null && hasTemplatesOf(tenant, number))
}

/** Whether a number can send the organization's templates. */
function hasTemplatesOf(
  { upstream }: Tenant,
  { business_account_id }: Pick<OwnNumber, 'business_account_id'>,
): boolean {
  return upstream !== null && business_account_id === upstream.business_account_id
}

function isUsable(tenant: Tenant, instance: Instance, isTemplate: boolean): boolean {
  return ownNumberOf(instance, tenant) !== null && (!isTemplate || hasTemplatesOf(tenant, instance))
}

/** The instance of the number; null: the first. */
async function findDefault(
  { database }: Pick<Context, 'database'>,
  { id: organizationId }: Tenant,
  { id, wrote_to = null, business_group }: NumberedContact,
  replyTo: string | null,
): Promise<string | null> {
  if (business_group) return business_group.instance_id
  if (replyTo === null) return wrote_to
  const answered = { id: replyTo, uuid: isUuid(replyTo) ? replyTo : null }
  const ofMessage = await findChannelOfMessage(database, organizationId, id, answered)
  return ofMessage === undefined ? wrote_to : ofMessage
}
