import { beforeAll, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '16505559701'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization
let id: string

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
  organization = await world.createOrganization()
  await createContact(world, organization, `+${CUSTOMER}`)
  const body = { phone_number: CUSTOMER, message_type: 'text', text: 'hi' }
  const headers = { 'x-request-id': 'order-7' }
  await world.request('POST', '/send-chat', { key: organization.key, body, headers })
  await world.settle()
  id = (await conversation(world, organization, CUSTOMER)).body.messages[0].id
})

const trace = (...args: string[]) => run(['message', 'trace', ...args], env)

describe('message trace', () => {
  it('prints one line for each entry, and what came of the message', async () => {
    const printed = await trace(organization.slug, id)
    expect(printed).toMatchObject({ code: 0, err: 'The message is read.\n' })
    expect(printed.out).toMatch(/requested .+by api_key .+request_id=order-7/)
    expect(printed.out).toMatch(/called +\d+ ms +outcome=accepted http_status=200/)
  })

  it('prints the answer of the API as JSON', async () => {
    const { body } = await world.request('GET', `/messages/${id}/trace`, { key: organization.key })
    expect((await trace(organization.id, id, '--json')).json()).toEqual(body.trace)
  })

  it('does not find the message of another organization', async () => {
    const other = await world.createOrganization()
    expect(await trace(other.slug, id)).toMatchObject({ code: 1, err: expect.stringContaining(id) })
  })
})
