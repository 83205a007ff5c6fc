import { describe, expect, it } from 'vitest'
import { receiveMessages, seconds, textMessage, wamid } from '../../../support/callbacks.js'
import { contact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId, take } = peopleOf(() => ({ world, organization }))

const ad = (source_id: string, fields: object = {}) => ({
  source_url: 'https://fb.me/3xYz',
  source_id,
  source_type: 'ad',
  headline: 'Summer sale',
  ctwa_clid: `click-of-${source_id}`,
  welcome_message: { text: 'Hi! How can we help?' },
  ...fields,
})
const from = (number: string, referral: unknown, at = 0) =>
  textMessage(number, 'from the ad', { referral, timestamp: seconds(at) })

async function referralOf(number: string) {
  return (await contact(world, organization, number)).body.contact.referral
}

describe('the referral of a contact', () => {
  it('is that of its message, in events too', async () => {
    const number = newNumber()
    await take(textMessage(number, 'hi'))
    expect(await referralOf(number)).toEqual({ first: null, last: null })
    await take(from(number, ad('1'), 10))
    const { messages } = (await conversation(world, organization, number)).body
    const only = {
      at: new Date(Number(seconds(10)) * 1_000).toISOString(),
      message_id: messages[1].id,
      source_url: 'https://fb.me/3xYz',
      source_id: '1',
      source_type: 'ad',
      headline: 'Summer sale',
      body: null,
      media_type: null,
      image_url: null,
      video_url: null,
      thumbnail_url: null,
      ctwa_clid: 'click-of-1',
      welcome_message: 'Hi! How can we help?',
      ref: null,
    }
    expect(await referralOf(number)).toEqual({ first: only, last: only })
    const { id } = (await contact(world, organization, number)).body.contact
    const told = (await eventsOfContact(world, id)).filter(({ type }) => type === 'contact.updated')
    expect(told.at(-1)?.data.contact).toMatchObject({ referral_last: { source_id: '1' } })
  })

  it('is the first and the last one by the times of the messages, whatever comes first', async () => {
    const number = newNumber()
    await take(
      from(number, ad('2'), 20),
      from(number, ad('3'), 30),
      from(number, ad('1'), 10),
      textMessage(number, 'hi'),
    )
    expect(await referralOf(number)).toMatchObject({ first: { source_id: '1' }, last: { source_id: '3' } })
  })

  it('is read from a message of any type', async () => {
    const number = newNumber()
    const location = { latitude: -23.5, longitude: -46.6 }
    await take({ from: number, id: wamid(), timestamp: seconds(), type: 'location', location, referral: ad('7') })
    expect(await referralOf(number)).toMatchObject({ first: { source_id: '7' } })
  })

  it('is counted once, if its message comes again', async () => {
    const number = newNumber()
    const first = from(number, ad('1'), 10)
    await take(first, from(number, ad('2'), 20), first)
    expect(await referralOf(number)).toMatchObject({ first: { source_id: '1' }, last: { source_id: '2' } })
  })

  it('is that of both when two contacts turn out to be one person', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const { from: _, ...hidden } = from('', ad('1'), 10)
    await take(from(number, ad('2'), 20), { ...hidden, from_user_id: userId })
    await take(textMessage(number, 'it is me', { from_user_id: userId, timestamp: seconds(30) }))
    expect(await referralOf(number)).toMatchObject({ first: { source_id: '1' }, last: { source_id: '2' } })
  })

  it.each([[null], ['ad'], [[]], [{}], [{ source_id: {}, headline: [] }]])('is none for %j', async (referral) => {
    const number = newNumber()
    await take(from(number, referral))
    expect(await referralOf(number)).toEqual({ first: null, last: null })
  })

  it('has texts of at most 2,048 characters', async () => {
    const number = newNumber()
    await take(from(number, ad('1', { body: '👍'.repeat(3_000) })))
    expect((await referralOf(number)).last.body).toHaveLength(2_048)
  })

  it('is not kept in a group, and not in another organization', async () => {
    const number = newNumber()
    await take(textMessage(number, 'private'))
    await take({ ...from(number, ad('1')), group_id: 'Y2FwaV9ncm91cDoxNzA1NTU1MDEz' })
    expect(await referralOf(number)).toEqual({ first: null, last: null })
    const other = await world.createOrganization()
    await receiveMessages(world, other, textMessage(number, 'hi'))
    await take(from(number, ad('2')))
    expect((await contact(world, other, number)).body.contact.referral).toEqual({ first: null, last: null })
  })
})
