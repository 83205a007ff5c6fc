import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../support/console.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

let world: World
let organization: TestOrganization
let owner: SignedInMember

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  owner = await signIn(world, organization)
})
afterAll(() => world.close())

const MESSAGE =
  'phone_number "12" is not a possible phone number: give it with its country code, such as +5511999990000'

it('an error of the console has its sentence, and one of the API does not', async () => {
  const body = { phone_number: '12' }
  const ofApi = await world.request('POST', '/contact', { key: organization.key, body })
  expect([ofApi.status, ofApi.body]).toEqual([400, { success: false, error: 'Invalid field', message: MESSAGE }])
  const ofConsole = await owner.call('POST', '/contact', { body })
  const sentence = { code: 'phone_number', values: { field: 'phone_number', given: '12' } }
  expect([ofConsole.status, ofConsole.body]).toEqual([400, { ...ofApi.body, sentence }])
})

it('an error of the console without a sentence is that of the API', async () => {
  const id = '00000000-0000-7000-8000-000000000000'
  const { status, body } = await owner.call('DELETE', `/team/${id}`)
  expect([status, body]).toEqual([404, { success: false, error: 'Member not found', message: expect.any(String) }])
})

it.each([
  ['POST', '/team', { email: 'x', full_name: 'Ana', role: 'agent' }, { code: 'email', values: { field: 'email' } }],
  [
    'PUT',
    '/settings/storefront',
    { url: 'shop' },
    { code: expect.stringMatching(/^(?:uri|shop_url)$/), values: { field: 'url' } },
  ],
  ['POST', '/shortlinks', { redirect_url: 'x' }, { code: 'link_target', values: { field: 'redirect_url' } }],
  [
    'POST',
    '/set-webhooks',
    { url: 'http://10.0.0.1/hook', events: ['message.received'] },
    { code: 'not_callable', values: { field: 'url', why: expect.stringContaining('10.0.0.1 is private') } },
  ],
])('%s %s is refused with a sentence', async (method, path, body, sentence) => {
  const answer = await owner.call(method, path, { body })
  expect([answer.status, answer.body.sentence]).toEqual([400, sentence])
})
