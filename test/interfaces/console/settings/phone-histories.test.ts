import { beforeAll, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { expectForOwners } from '../../../support/refusals.js'
import { contactRows } from '../../../support/rows/contacts.js'
import { receiveSamples } from '../../../support/samples.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember

beforeAll(async () => {
  owner = await signIn(world, organization)
  await receiveSamples(world, organization, 'history-threads')
})

const list = async (by: SignedInMember) => (await by.call('GET', '/phone-histories')).body.histories

it('histories of phones are for owners', async () => {
  const others = [await signIn(world, organization, { role: 'agent' })]
  await expectForOwners(others, ['GET /phone-histories'])
})

it("GET /console/api/phone-histories lists how far an organization's histories are, and no others", async () => {
  expect(await list(owner)).toMatchObject([{ instance_id: null, status: 'running', progress: 55, messages: 4 }])
  expect(await list(await signIn(world, await world.createOrganization()))).toEqual([])
})

it('the page reads conversations whose numbers are below 1', async () => {
  const rows = await contactRows(world, { organization_id: organization.id, chat_id: '12025550147' })
  const path = `/contacts/${rows[0]?.id}/messages`
  const { body } = await owner.call('GET', path)
  expect(body).toMatchObject({ first_seq: -2, last_seq: 0 })
  expect(body.messages.map(({ seq }: { seq: number }) => seq)).toEqual([-2, -1, 0])
  const older = await owner.call('GET', `${path}?before=-1`)
  expect(older.body.messages).toMatchObject([{ seq: -2, message: 'Do you have mugs?' }])
  expect((await owner.call('POST', `/contacts/${rows[0]?.id}/read`, { body: { seq: -1 } })).status).toBe(200)
})
