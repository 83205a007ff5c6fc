import { beforeEach, describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { receiveMessages, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { signIn } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { hold as holdRow, untilWaiting } from '../../support/locks.js'
import { deliveriesOf } from '../../support/rows/deliveries.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '5511987653333'
const DAY = 86_400_000

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const setHold = (body: object = { reason: 'Case 12/2026', by: 'Ana' }) =>
  world.admin('PUT', `/organizations/${organization.id}/hold`, body)
const release = () => world.admin('DELETE', `/organizations/${organization.id}/hold`)
const countEvents = async (owner: TestOrganization) => (await eventsOf(world, owner)).length

describe('a legal hold', () => {
  it('is set and released by the operator, once', async () => {
    const held = await setHold()
    expect(held.body.organization.legal_hold).toEqual({
      reason: 'Case 12/2026',
      by: 'Ana',
      since: expect.stringMatching(/^2\d{3}-/),
    })
    expect(await setHold()).toMatchObject({ status: 409, body: { error: 'Legal hold' } })
    expect((await release()).body.organization.legal_hold).toBeNull()
    expect(await release()).toMatchObject({ status: 409, body: { error: 'Legal hold' } })
    const { rows } = await world.database.pool.query('SELECT hold, released_by FROM released_holds')
    expect(rows).toEqual([{ hold: held.body.organization.legal_hold, released_by: 'operator' }])
  })

  it('needs a reason of at most 500 characters', async () => {
    expect(await setHold({})).toMatchObject({ status: 400, body: { error: 'Missing required field' } })
    expect(await setHold({ reason: 'r'.repeat(501) })).toMatchObject({ status: 400, body: { error: 'Invalid field' } })
    expect((await setHold({ reason: 'r'.repeat(500) })).body.organization.legal_hold.by).toBe('operator')
  })

  it('keeps events that other organizations lose, until it is released', async () => {
    const other = await world.createOrganization()
    for (const one of [organization, other]) await createContact(world, one, `+${CUSTOMER}`)
    await setHold()
    world.advance(31 * DAY)
    await prune(world.app.work)
    expect([await countEvents(organization), await countEvents(other)]).toEqual([1, 0])
    await release()
    await prune(world.app.work)
    expect(await countEvents(organization)).toBe(0)
  })

  it('keeps reports of the upstream and former merges', async () => {
    const other = await world.createOrganization()
    const count = async () => {
      const { rows } = await world.database.pool.query<{ count: number }>(
        `SELECT o.id, (SELECT count(*) FROM upstream_notices WHERE organization_id = o.id)
           + (SELECT count(*) FROM contact_merges WHERE organization_id = o.id) AS count
         FROM unnest($1::uuid[]) WITH ORDINALITY AS o (id, n) ORDER BY n`,
        [[organization.id, other.id]],
      )
      return rows.map((row) => row.count)
    }
    for (const one of [organization, other]) {
      await receiveSamples(world, one, 'account-restriction')
      const { from: _, ...hidden } = textMessage('', 'Hello', { from_user_id: 'BR.13491208655302741918' })
      await receiveMessages(world, one, textMessage(CUSTOMER, 'Hello'), hidden)
      await receiveMessages(world, one, textMessage(CUSTOMER, 'Both', { from_user_id: 'BR.13491208655302741918' }))
    }
    await setHold()
    world.advance(200 * DAY)
    await prune(world.app.work)
    expect(await count()).toEqual([2, 0])
  })

  it('refuses to delete the organization or a contact, and changes nothing', async () => {
    const { key, id } = organization
    await createContact(world, organization, `+${CUSTOMER}`)
    await setHold()
    const refused = { status: 409, body: { success: false, error: 'Legal hold' } }
    expect(await world.request('DELETE', `/contact?phone_number=${CUSTOMER}`, { key })).toMatchObject(refused)
    expect(await world.admin('DELETE', `/organizations/${id}`)).toMatchObject(refused)
    expect((await world.request('GET', `/contact?phone_number=${CUSTOMER}`, { key })).status).toBe(200)
    await release()
    expect((await world.request('DELETE', `/contact?phone_number=${CUSTOMER}`, { key })).status).toBe(200)
    expect((await world.admin('DELETE', `/organizations/${id}`)).status).toBe(200)
  })

  it('keeps notes of the team', async () => {
    const contactId = await createContact(world, organization, `+${CUSTOMER}`)
    const { call } = await signIn(world, organization)
    const { note } = (await call('POST', `/contacts/${contactId}/notes`, { body: { text: 'remember' } })).body
    await setHold()
    expect(await call('DELETE', `/notes/${note.id}`)).toMatchObject({ status: 409 })
  })

  it('keeps the texts that a customer edits and revokes', async () => {
    const other = await world.createOrganization()
    const ids = { [organization.id]: wamid(), [other.id]: wamid() }
    const change = (owner: TestOrganization, type: string, text: string | null) => {
      const original_message_id = ids[owner.id]
      const message = text === null ? {} : { message: { type: 'text', text: { body: text } } }
      const body = { [type]: { original_message_id, ...message } }
      return receiveMessages(world, owner, { from: CUSTOMER, id: wamid(), timestamp: seconds(1), type, ...body })
    }
    const kept = async ({ id }: TestOrganization) => {
      const { rows } = await world.database.pool.query(
        `SELECT message_type AS type, content ->> 'earlier_text' AS earlier FROM messages
         WHERE organization_id = $1 AND seq IS NULL ORDER BY recorded_at`,
        [id],
      )
      return rows.map(({ type, earlier }) => [type, earlier])
    }
    for (const owner of [organization, other])
      await receiveMessages(world, owner, textMessage(CUSTOMER, 'I did it', { id: ids[owner.id] }))
    await change(organization, 'edit', 'I did')
    await setHold()
    for (const owner of [organization, other]) {
      await change(owner, 'edit', 'I')
      await change(owner, 'revoke', null)
      const { body } = await conversation(world, owner, CUSTOMER)
      expect(body.messages.map(({ message }: { message: string }) => message)).toEqual([''])
    }
    expect(await kept(organization)).toEqual([
      ['edit', null],
      ['edit', 'I did'],
      ['revoke', 'I'],
    ])
    expect(await kept(other)).toEqual([
      ['edit', null],
      ['revoke', null],
    ])
  })

  it('keeps the deliveries of a webhook that is deleted', async () => {
    const { key } = organization
    const body = { url: 'http://127.0.0.1:9/', events: ['*'] }
    const { webhook } = (await world.request('POST', '/set-webhooks', { key, body })).body
    await world.request('POST', `/set-webhooks/${webhook.id}/test`, { key })
    await setHold()
    expect((await world.request('DELETE', '/set-webhooks', { key, body: { id: webhook.id } })).status).toBe(200)
    const count = async () => {
      await workOffLater(world)
      return (await deliveriesOf(world, organization)).length
    }
    expect(await count()).toBe(1)
    await release()
    expect(await count()).toBe(0)
  })

  it('waits for an erasure that is under way', async () => {
    const contactId = await createContact(world, organization, `+${CUSTOMER}`)
    const held = await holdRow(world.database, 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', [contactId])
    const erasing = world.request('DELETE', `/contact?phone_number=${CUSTOMER}`, { key: organization.key })
    await untilWaiting(world.database, 1)
    const setting = setHold()
    await untilWaiting(world.database, 2)
    await held.release()
    expect([(await erasing).status, (await setting).status]).toEqual([200, 200])
  })
})

describe('the days that messages are kept', () => {
  const change = (body: object) => world.admin('PATCH', `/organizations/${organization.id}`, body)

  it('are off at first, and can be set and turned off', async () => {
    const shown = (await world.admin('GET', `/organizations/${organization.id}`)).body.organization
    expect(shown).toMatchObject({ message_retention_days: null, media_retention_days: null, legal_hold: null })
    const days = { message_retention_days: 3650, media_retention_days: 1 }
    expect((await change(days)).body.organization).toMatchObject(days)
    const off = { message_retention_days: null, media_retention_days: null }
    expect((await change(off)).body.organization).toMatchObject(off)
  })

  it.each([
    { message_retention_days: 0 },
    { message_retention_days: 3651 },
    { media_retention_days: 0 },
    { media_retention_days: 1.5 },
    { message_retention_days: 29 },
    { retention_days: 90, message_retention_days: 89 },
  ])('are refused if they are %j', async (days) => {
    expect(await change(days)).toMatchObject({ status: 400, body: { error: 'Invalid field' } })
    const shown = (await world.admin('GET', `/organizations/${organization.id}`)).body.organization
    expect(shown).toMatchObject({ retention_days: 30, message_retention_days: null, media_retention_days: null })
  })
})
