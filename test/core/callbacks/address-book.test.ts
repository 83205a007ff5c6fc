import { beforeEach, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import { readConversations } from '../../support/conversations.js'
import { contactRows } from '../../support/rows/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const names = async () =>
  (await contactRows(world, { organization_id: organization.id })).map(({ full_name }) => full_name).sort()

describe('the address book of the phone of the business number, as published', () => {
  it('becomes contacts, each once, without those that were removed from it', async () => {
    await receiveSamples(world, organization, 'phone-contacts', 'phone-contacts')
    expect(await names()).toEqual(['Ana Example', 'Cleo'])
  })

  it('makes no event and no activity, and nobody that broadcasts reach', async () => {
    await createContact(world, organization, '12025550199', { full_name: 'Before' })
    await receiveSamples(world, organization, 'phone-contacts')
    const { body } = await contact(world, organization, ANA)
    expect(body.contact).toMatchObject({
      full_name: 'Ana Example',
      source: { type: 'address_book' },
      allow_broadcast: false,
      has_unread_messages: false,
      active_status: false,
    })
    const told = (await eventsOf(world, organization)).map(({ type, data }) => `${type} ${data.contact.full_name}`)
    expect(told).toEqual(['contact.created Before'])
    const listed = await readConversations(world, organization, { action: 'contacts' })
    expect(listed.body.contacts[0]).toMatchObject({ full_name: 'Before' })
  })

  it('does not let broadcasts reach who writes later', async () => {
    await receiveSamples(world, organization, 'phone-contacts')
    await receiveMessages(world, organization, textMessage(ANA, 'Hello'))
    expect((await contact(world, organization, ANA)).body.contact.allow_broadcast).toBe(false)
  })

  it('names contacts without a name, and no others', async () => {
    await createContact(world, organization, ANA)
    await receiveSamples(world, organization, 'phone-contacts')
    expect((await contact(world, organization, ANA)).body.contact.full_name).toBe('Ana Example')
    const updates = await eventsOf(world, organization, 'contact.updated')
    // The user id first, then the name.
    expect(updates.map(({ data }) => data.contact.full_name)).toEqual([null, 'Ana Example'])
    const body = { full_name: 'Ana of the shop' }
    await world.request('PATCH', `/contact?chat_id=${ANA}`, { key: organization.key, body })
    await receiveSamples(world, organization, 'phone-contacts')
    expect((await contact(world, organization, ANA)).body.contact.full_name).toBe('Ana of the shop')
  })

  it("does not name another organization's contact", async () => {
    const other = await world.createOrganization()
    await createContact(world, organization, ANA)
    await receiveSamples(world, other, 'phone-contacts')
    expect(await names()).toEqual([null])
  })
})
