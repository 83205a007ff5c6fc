import { beforeEach, describe, expect, it } from 'vitest'
import { contact, createContact } from '../../support/contacts.js'
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
    const { body } = await contact(world, organization, ANA)
    expect(body.contact).toMatchObject({ full_name: 'Ana Example', has_unread_messages: false, active_status: false })
    expect(await eventsOf(world, organization, 'contact.created')).toHaveLength(2)
  })

  it('names contacts without a name, and no others', async () => {
    await createContact(world, organization, ANA)
    await receiveSamples(world, organization, 'phone-contacts')
    expect((await contact(world, organization, ANA)).body.contact.full_name).toBe('Ana Example')
    expect(await eventsOf(world, organization, 'contact.updated')).toHaveLength(1)
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
