import { beforeAll, expect, it } from 'vitest'
import type { DriverOutcome } from '../../../../src/channels/driver.js'
import { findSendResult, recordOutcome } from '../../../../src/core/messages/send/outcome.js'
import { findTenant } from '../../../../src/storage/organizations/organizations.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { useOrganization, useWorld } from '../../../support/world.js'

/** Its connection is dropped after the message was accepted. */
const CUSTOMER = '5511999000005'

const world = useWorld()
const organization = useOrganization(world)

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  await createContact(world, organization, `+${CUSTOMER}`)
})

const refused = (because: 'message' | 'credentials', code: number): DriverOutcome => {
  return { outcome: 'refused', because, code, text: 'no' }
}

const notAccepted = (limit: 'number' | 'pair' | null, code: number | null): DriverOutcome => {
  return { outcome: 'not_accepted', limit, code, text: 'later', retryAfterMs: null, mayRetry: true }
}

it.each([
  ['the rate of the number', notAccepted('number', 130429)],
  ['the rate of the number, without a code', notAccepted('number', null)],
  ['the rate of one recipient', notAccepted('pair', 131056)],
  ['an upstream that is busy', notAccepted(null, 131016)],
  ['no connection', notAccepted(null, null)],
  ['credentials', refused('credentials', 190)],
  ['the message itself', refused('message', 131026)],
])(
  'a repeated request after the process died gets the outcome %s that the first one would have got',
  async (_name, outcome) => {
    const body = { phone_number: CUSTOMER, message_type: 'text', text: 'hello' }
    const { id } = (await world.request('POST', '/send-chat', { key: organization.key, body })).body
    const { ctx } = world.app
    const tenant = await findTenant(ctx.database, organization.id)
    if (!tenant) throw new Error('the organization is gone')

    const message = { organizationId: organization.id, id, chatId: CUSTOMER }
    const told = await recordOutcome(ctx, message, outcome, { k: 'calls', at: 0, calls: [] })
    expect(await findSendResult(ctx, tenant, id)).toEqual(told)
    const shown = (await conversation(world, organization, CUSTOMER)).body.messages.at(-1)
    const code = 'code' in outcome && outcome.code !== null ? outcome.code : 'upstream_unavailable'
    expect(shown).toMatchObject({ id, message_status: 'failed' })
    expect(shown.error).toEqual({ code, text: 'text' in outcome && outcome.text })
  },
)
