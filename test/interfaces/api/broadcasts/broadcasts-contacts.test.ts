import { describe, expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../../src/core/broadcasts/reconcile.js'
import { applyRetention } from '../../../../src/core/maintenance/retention.js'
import { userIdChatId } from '../../../../src/model/contacts/phone-number.js'
import { HOUR, MINUTE, OFFER, OFFER_PARAMETERS, startBroadcastWorld } from '../../../support/broadcasts.js'
import { receiveMessages, seconds, textMessage, wamid } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { hold, untilWaiting } from '../../../support/locks.js'
import { messageRow } from '../../../support/rows/messages.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)

const erase = async (digits: string) => {
  const answer = await at.ask('DELETE', `/contact?chat_id=${digits}`)
  expect(answer.status).toBe(200)
  await at.world.drain()
}

const statsOf = async (id: string) => {
  const { body } = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
  return { total: body.data.broadcastInfo.totalRecipients, ...body.data.deliveryStats }
}

async function launchLater(id: string): Promise<void> {
  at.world.advance(HOUR)
  await reconcileBroadcasts(at.world.app.ctx)
  await at.world.drain()
  expect((await at.read(id)).started_at).not.toBeNull()
}

const inAnHour = () => new Date(at.world.now().getTime() + HOUR).toISOString()
const PERSON = { contactId: null, chatNumber: null, contactName: null, messageId: null }
const failed = { errors: [{ code: 131049, title: 'Not delivered' }] }

describe('an erased contact', () => {
  it('that was still pending is skipped, and receives nothing', async () => {
    const [gone, stays] = [at.newNumber(), at.newNumber()]
    const { id } = await at.create({
      templateName: OFFER,
      ...OFFER_PARAMETERS,
      scheduled_at: inAnHour(),
      audience: {
        recipients: [gone, stays].map((chatNumber) => ({
          chatNumber,
          name: 'Eva',
          bodyParameters: { discount: '7%' },
        })),
      },
    })
    await erase(gone)
    expect(await at.read(id)).toMatchObject({ status: 'scheduled', totalRecipients: 1, skippedRecipients: 1 })
    await launchLater(id)
    expect(await at.recipients(id)).toMatchObject([
      { ...PERSON, status: 'skipped', reason: 'contact erased' },
      { chatNumber: stays, status: 'sent' },
    ])
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 1 })
    expect((await at.arrived()).filter(({ to }) => to === gone)).toEqual([])
    const { rows } = await at.world.database.pool.query(
      `SELECT count(*) AS count FROM broadcast_recipients WHERE broadcast_id = $1 AND (parameters IS NOT NULL OR name IS NOT NULL)`,
      [id],
    )
    expect(rows).toEqual([{ count: 1 }])
    await at.expectNoDrift()
  })

  it('keeps its outcome, without contact, number and name', async () => {
    const numbers = Array.from({ length: 5 }, at.newNumber) as [string, string, string, string, string]
    const [sent, delivered, read, refused, reported] = numbers
    await at.failing(refused, 131026)
    const listed = [...numbers, 'nobody', sent]
    const { id } = await at.send({
      audience: { recipients: listed.map((chatNumber) => ({ chatNumber, name: 'Eva' })) },
    })
    const before = await at.recipients(id)
    await at.report(before[1].messageId, 'delivered')
    await at.report(before[2].messageId, 'read')
    await at.report(before[4].messageId, 'failed', failed)
    expect((await at.recipients(id)).map(({ status }) => status)).toEqual([
      ...['sent', 'delivered', 'read', 'failed', 'failed', 'skipped', 'skipped'],
    ])
    const settled = await at.recipients(id)
    const stats = await statsOf(id)
    const broadcast = await at.read(id)
    for (const digits of numbers) await erase(digits)
    expect(await at.recipients(id)).toEqual(
      settled.map((recipient, n) => (n === 5 ? recipient : { ...recipient, ...PERSON })),
    )
    for (const [status, count] of Object.entries({ sent: 1, delivered: 1, read: 1, failed: 2, skipped: 2 })) {
      expect(await at.recipients(id, `status=${status}`)).toHaveLength(count)
    }
    expect(await statsOf(id)).toEqual(stats)
    expect(await at.read(id)).toEqual(broadcast)
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(0)
    await at.report(before[0].messageId, 'read')
    expect(await statsOf(id)).toEqual(stats)
    await at.expectNoDrift()
    expect((await at.ask('GET', `/contact?chat_id=${delivered}`)).status).toBe(404)
    expect((await at.ask('GET', `/contact?chat_id=${read}`)).status).toBe(404)
    expect((await at.ask('GET', `/contact?chat_id=${reported}`)).status).toBe(404)
  })

  it('with an unknown outcome has failed, since no status can arrive for it', async () => {
    const dropped = '16605000005'
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: dropped }] } })
    const [{ biz_opaque_callback_data }] = (await at.arrived()).slice(-1)
    await erase(dropped)
    const [recipient] = await at.recipients(id)
    expect(recipient).toMatchObject({ ...PERSON, status: 'failed', errorCode: 'outcome_unknown', sent_at: null })
    expect(await at.recipients(id, 'status=failed')).toEqual([recipient])
    expect(await at.recipients(id, 'status=pending')).toEqual([])
    await at.report('wamid.TOOLATE', 'read', { biz_opaque_callback_data })
    expect(await statsOf(id)).toMatchObject({ total: 1, sent: 0, failed: 1 })
    await reconcileBroadcasts(at.world.app.ctx)
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1 })
    await at.expectNoDrift()
  })

  it('between a failure and its second try is skipped', async () => {
    const { digits } = await at.newContact()
    await at.failing(digits, 131026)
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits }] } })
    await at.healed(digits)
    await at.act(id, 'retry-failed')
    await at.act(id, 'pause')
    await erase(digits)
    await at.act(id, 'resume')
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['skipped: contact erased'])
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 0, skippedRecipients: 1 })
    await at.expectNoDrift()
  })

  it('leaves a cancelled broadcast as it was', async () => {
    const { digits } = await at.newContact()
    const { id } = await at.create({ scheduled_at: inAnHour(), audience: { recipients: [{ chatNumber: digits }] } })
    const cancelled = (await at.act(id, 'cancel')).body.broadcast
    await erase(digits)
    expect(await at.read(id)).toEqual(cancelled)
    expect(await at.recipients(id)).toMatchObject([{ ...PERSON, status: 'skipped' }])
    await at.expectNoDrift()
  })

  it.each([
    ['sent', null],
    ['outstanding', '16515000005'],
  ])('during a status update keeps the outcome (it was %s)', async (_name, dropped) => {
    const digits = dropped ?? at.newNumber()
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits }] } })
    const { id: messageId, upstream_id: upstreamId } = await messageRow(at.world, { broadcast_id: id })
    const held = await hold(at.world.database, 'SELECT FROM messages WHERE id = $1 FOR UPDATE', [messageId])
    const fields = { biz_opaque_callback_data: messageId }
    const applied = at.report(upstreamId ?? `wamid.HELD${messageId}`, 'read', fields)
    await untilWaiting(at.world.database, 1)
    const erased = at.ask('DELETE', `/contact?chat_id=${digits}`)
    await untilWaiting(at.world.database, 2)
    await held.release()
    expect((await erased).status).toBe(200)
    await applied
    await at.world.drain()
    expect(await at.recipients(id)).toMatchObject([{ ...PERSON, status: 'read', errorCode: null }])
    expect(await statsOf(id)).toMatchObject({ total: 1, sent: 1, delivered: 1, read: 1, failed: 0 })
    await at.expectNoDrift()
  })

  it('of a send-template keeps its figures too', async () => {
    const { digits } = await at.newContact({ full_name: 'Ana' })
    const body = { templateName: OFFER, chatNumber: digits, ...OFFER_PARAMETERS }
    const { broadcastId, results } = (await at.ask('POST', '/send-template', { body })).body
    await at.report(results[0].messageId, 'read')
    await erase(digits)
    expect(await at.recipients(broadcastId)).toMatchObject([{ ...PERSON, status: 'read' }])
    expect(await statsOf(broadcastId)).toMatchObject({ total: 1, sent: 1, delivered: 1, read: 1 })
    await at.expectNoDrift()
  })
})

let users = 0

/** A person with two contacts, one with the number and one with the user id. The test chooses the older one. */
async function newTwins(numberFirst = true) {
  const userId = `US.2349120865530274${++users}`
  const digits = at.newNumber()
  const makers = [
    () => createContact(at.world, at.organization, `+${digits}`, { tags: [`twin${users}`] }),
    () => receiveMessages(at.world, at.organization, fromUser(userId)),
  ]
  for (const make of numberFirst ? makers : makers.reverse()) await make()
  const chatIds = numberFirst ? [digits, userIdChatId(userId)] : [userIdChatId(userId), digits]
  return { digits, userId, chatIds }
}

function fromUser(userId: string) {
  return { from_user_id: userId, id: wamid(), timestamp: seconds(), type: 'text', text: { body: 'hello' } }
}

const merge = ({ digits, userId }: { digits: string; userId: string }) =>
  receiveMessages(at.world, at.organization, textMessage(digits, 'it is me', { from_user_id: userId }))

/** Deletes all messages of the organization for their age. */
async function deleteMessages(): Promise<void> {
  const { world, organization } = at
  const path = `/organizations/${organization.id}`
  await world.admin('PATCH', path, { message_retention_days: 30 })
  await world.database.pool.query(
    "UPDATE messages SET recorded_at = recorded_at - interval '40 days' WHERE organization_id = $1",
    [organization.id],
  )
  expect(await applyRetention(world.app.ctx, organization.id, {})).toBeNull()
  await world.admin('PATCH', path, { message_retention_days: null })
}

/** The messages of the template that arrived for a person, by either address. */
const reached = async ({ digits, userId }: { digits: string; userId: string }) =>
  (await at.arrived()).filter(({ to, recipient }) => to === digits || recipient === userId)

describe('two contacts that are merged', () => {
  it.each([true, false])('before the sending receive it once (the number is older: %s)', async (numberFirst) => {
    const twins = await newTwins(numberFirst)
    const { id } = await at.create({
      scheduled_at: inAnHour(),
      audience: { recipients: twins.chatIds.map((chatNumber) => ({ chatNumber })) },
    })
    expect((await at.read(id)).totalRecipients).toBe(2)
    await merge(twins)
    expect(await at.read(id)).toMatchObject({ totalRecipients: 1, skippedRecipients: 1 })
    await launchLater(id)
    expect(await at.outcomes(id)).toEqual(['sent', 'skipped: duplicate'])
    expect(await reached(twins)).toHaveLength(1)
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 1 })
    await at.expectNoDrift()
  })

  it('with only the younger one a recipient: the older one replaces it', async () => {
    const twins = await newTwins()
    const { id } = await at.create({
      scheduled_at: inAnHour(),
      audience: { recipients: [{ chatNumber: userIdChatId(twins.userId) }] },
    })
    await merge(twins)
    await launchLater(id)
    expect(await at.recipients(id)).toMatchObject([{ chatNumber: twins.digits, status: 'sent' }])
    expect(await reached(twins)).toMatchObject([{ to: twins.digits }])
    await at.expectNoDrift()
  })

  it.each([false, true])('after one was sent to: the other one is skipped (message deleted: %s)', async (isDeleted) => {
    const twins = await newTwins()
    await at.failing(twins.digits, 131026)
    const { id } = await at.send({ audience: { recipients: twins.chatIds.map((chatNumber) => ({ chatNumber })) } })
    expect(await at.outcomes(id)).toEqual(['failed', 'sent'])
    await at.healed(twins.digits)
    await at.act(id, 'retry-failed')
    await at.act(id, 'pause')
    if (isDeleted) await deleteMessages()
    await merge(twins)
    await at.act(id, 'resume')
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['skipped: duplicate', 'sent'])
    expect(await reached(twins)).toHaveLength(1)
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1, skippedRecipients: 1 })
    await at.expectNoDrift()
  })

  it('after both were sent to remain two recipients', async () => {
    const twins = await newTwins()
    const { id } = await at.send({ audience: { recipients: twins.chatIds.map((chatNumber) => ({ chatNumber })) } })
    await merge(twins)
    const [one, two] = await at.recipients(id)
    await at.report(one.messageId, 'read')
    await at.report(two.messageId, 'delivered')
    expect(await at.recipients(id)).toMatchObject([
      { chatNumber: twins.digits, status: 'read' },
      { chatNumber: twins.digits, status: 'delivered' },
    ])
    expect(await at.read(id)).toMatchObject({ totalRecipients: 2, skippedRecipients: 0 })
    await at.expectNoDrift()
    await erase(twins.digits)
    expect(await at.recipients(id)).toMatchObject([
      { ...PERSON, status: 'read' },
      { ...PERSON, status: 'delivered' },
    ])
    await at.expectNoDrift()
  })

  it.each([
    ['one of them had it', 'delivered', 0],
    ['both failed', 'failed', 1],
  ])('are retried once, as one recipient: %s', async (_name, other, retried) => {
    const twins = await newTwins()
    const { id } = await at.send({ audience: { recipients: twins.chatIds.map((chatNumber) => ({ chatNumber })) } })
    const [one, two] = await at.recipients(id)
    await at.report(one.messageId, 'failed', failed)
    await at.report(two.messageId, other, other === 'failed' ? failed : {})
    await merge(twins)
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(retried)
    await at.world.drain()
    expect(await reached(twins)).toHaveLength(2 + retried)
    await at.expectNoDrift()
  })
})

describe('a contact that changes its number', () => {
  it('receives the broadcast at the new number', async () => {
    const { digits, id: contactId } = await at.newContact()
    const next = at.newNumber()
    const { id } = await at.create({ scheduled_at: inAnHour(), audience: { recipients: [{ chatNumber: digits }] } })
    const system = { body: 'moved', type: 'user_changed_number', wa_id: next }
    const notice = { from: digits, id: wamid(), timestamp: seconds(), type: 'system', system }
    await receiveMessages(at.world, at.organization, notice)
    await launchLater(id)
    expect(await at.recipients(id)).toMatchObject([{ contactId, chatNumber: next, status: 'sent' }])
    expect((await at.arrived()).at(-1)).toMatchObject({ to: next })
  })
})

describe('a reply', () => {
  it('counts once as an opt-out in the broadcast, and its contact receives no other', async () => {
    const { id: contactId, digits } = await at.newContact()
    const { id } = await at.send({ audience: { contactIds: [contactId] } })
    const timestamp = String(Math.floor(at.world.now().getTime() / 1_000) + 5)
    await receiveMessages(at.world, at.organization, textMessage(digits, 'Parar!', { timestamp }))
    await receiveMessages(at.world, at.organization, textMessage(digits, 'parar', { timestamp }))
    const { body } = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
    expect(body.data.optOutAnalytics.totalOptOuts).toBe(1)
    const next = await at.create({ audience: { contactIds: [contactId] } })
    expect(next).toMatchObject({ totalRecipients: 0, skippedRecipients: 1 })
    expect(await at.outcomes(next.id)).toEqual(['skipped: opted out'])
    await at.ask('PATCH', `/contact?chat_id=${digits}`, { body: { allow_broadcast: true } })
    const third = await at.send({ audience: { contactIds: [contactId] } })
    expect(await at.outcomes(third.id)).toEqual(['sent'])
    at.world.advance(MINUTE)
    await at.expectNoDrift()
  })
})
