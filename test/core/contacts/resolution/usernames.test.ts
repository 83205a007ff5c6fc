import { describe, expect, it } from 'vitest'
import { receive, seconds, type WireMessage, wamid } from '../../../support/callbacks.js'
import { readConversations } from '../../../support/conversations.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId } = peopleOf(() => ({ world, organization }))

let people = 0
const newUsername = () => `una.${'abcdefghij'[people % 10]}${++people}_x`

/** Receives a message of a person, with the profile. */
function hear(person: WireMessage, profile: object, at = 0, of: TestOrganization = organization): Promise<void> {
  const { wa_id: from, user_id: from_user_id } = person
  const message = { from, from_user_id, id: wamid(), timestamp: seconds(at), type: 'text', text: { body: 'hi' } }
  return receive(world, of, { contacts: [{ profile, ...person }], messages: [message] })
}

async function contactOf(user_id: string) {
  const { body } = await world.request('GET', `/contact?user_id=${user_id}`, { key: organization.key })
  return body.contact
}

async function search(text: string, of: TestOrganization = organization): Promise<string[]> {
  const { body } = await readConversations(world, of, { action: 'contacts', search: text })
  return body.contacts.map(({ user_id }: { user_id: string }) => user_id)
}

describe('the username of a person', () => {
  it('is shown by the API and events', async () => {
    const [user_id, username] = [newUserId(), newUsername()]
    await hear({ user_id }, { name: 'Una', username })
    const contact = await contactOf(user_id)
    expect(contact).toMatchObject({ full_name: 'Una', username })
    const told = await eventsOfContact(world, contact.id)
    expect(told.filter(({ type }) => type === 'contact.updated').at(-1)?.data.contact).toMatchObject({ username })
  })

  it('is found by a part, whatever the case, with or without @', async () => {
    const [user_id, username] = [newUserId(), newUsername()]
    await hear({ user_id }, { username })
    for (const text of [
      username,
      username.toUpperCase(),
      `@${username}`,
      username.slice(2),
      `@${username.slice(0, -2)}`,
    ])
      expect({ text, found: await search(text) }).toEqual({ text, found: [user_id] })
    expect(await search(`x${username}`)).toEqual([])
  })

  it('changes, and the former one is no longer found', async () => {
    const [user_id, before, after] = [newUserId(), newUsername(), newUsername()]
    await hear({ user_id }, { username: before }, 10)
    await hear({ user_id }, { username: after }, 20)
    expect(await contactOf(user_id)).toMatchObject({ username: after })
    expect([await search(before), await search(after)]).toEqual([[], [user_id]])
  })

  it('is that of the newest message, not of the last to arrive, and stays without one', async () => {
    const [user_id, before, after] = [newUserId(), newUsername(), newUsername()]
    await hear({ user_id }, { username: after }, 20)
    await hear({ user_id }, { username: before }, 10)
    await hear({ user_id }, { name: 'Una' }, 30)
    expect(await contactOf(user_id)).toMatchObject({ username: after, full_name: 'Una' })
    expect([await search(before), await search(after)]).toEqual([[], [user_id]])
  })

  it('identifies nobody: who takes it over is another contact', async () => {
    const [first, second, username] = [newUserId(), newUserId(), newUsername()]
    await hear({ user_id: first }, { username }, 10)
    await hear({ user_id: second }, { username }, 20)
    expect((await contactOf(first)).id).not.toBe((await contactOf(second)).id)
    expect((await search(username)).sort()).toEqual([first, second].sort())
  })

  it('stays when two contacts turn out to be one person', async () => {
    const [wa_id, user_id, username] = [newNumber(), newUserId(), newUsername()]
    await hear({ wa_id }, { name: 'Una' }, 10)
    await hear({ user_id }, { username }, 20)
    await hear({ wa_id, user_id }, {}, 30)
    expect(await contactOf(user_id)).toMatchObject({ username, phone_number: `+${wa_id}` })
    expect(await search(username)).toEqual([user_id])
  })

  it.each([
    ['', null],
    [' @una.k ', 'una.k'],
    [5, null],
    [{ name: 'una' }, null],
    ['u'.repeat(65), null],
  ])('is read from %j as %j', async (username, shown) => {
    const user_id = newUserId()
    await hear({ user_id }, { username })
    expect((await contactOf(user_id)).username).toBe(shown)
  })

  it('is not found by another organization', async () => {
    const [user_id, username] = [newUserId(), newUsername()]
    await hear({ user_id }, { username })
    expect(await search(username, await world.createOrganization())).toEqual([])
  })
})
