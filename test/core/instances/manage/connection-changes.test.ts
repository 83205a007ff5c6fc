import { beforeEach, describe, expect, it } from 'vitest'
import {
  applyConnectionChanges,
  readConnectionChanges,
} from '../../../../src/core/instances/manage/connection-changes.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { Instance, InstanceKind } from '../../../../src/model/instances/instance.js'
import { findInstanceById, insertInstance } from '../../../../src/storage/instances/instances.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let sandbox: Instance

beforeEach(async () => {
  organization = await world.createOrganization()
  sandbox = await insert('sandbox')
})

async function insert(kind: InstanceKind): Promise<Instance> {
  const id = newId()
  const instance = await insertInstance(world.database, organization.id, {
    ...{ id, name: kind, kind, state: 'close', number: null, owner: null, settings: {} },
    ...{ token: Buffer.from('sealed'), token_hash: Buffer.from(id), access_token: null, app_secret: null },
    ...{ phone_number_id: `${organization.id}/${kind}`, business_account_id: null, verify_token_hash: null },
  })
  return instance as Instance
}

const stored = async (instance = sandbox) => {
  const { state, state_code, owner, profile_name } = (await findInstanceById(
    world.database,
    organization.id,
    instance.id,
  )) as Instance
  return { state, state_code, owner, profile_name }
}
const change = (connection: unknown, phoneNumberId: unknown = sandbox.phone_number_id) => ({
  field: 'connection',
  value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, connection },
})
const body = (...changes: unknown[]) => ({ entry: [{ id: 'x', changes }] })
const apply = (envelope: object, instanceId: string | null = sandbox.id, organizationId = organization.id) =>
  applyConnectionChanges(world.app.ctx, organizationId, { instanceId, changes: readConnectionChanges({ ...envelope }) })

const linked = { state: 'open', number: '5511912345678', name: 'Zoë' }
const closed = { state: 'close', state_code: null, owner: null, profile_name: null }

describe('a callback about a connection', () => {
  it('is applied in order', async () => {
    await apply(body(change(linked)))
    const open = { state: 'open', state_code: null, owner: '5511912345678', profile_name: 'Zoë' }
    expect(await stored()).toEqual(open)
    await apply(body(change(linked)))
    expect(await stored()).toEqual(open)
    await apply(body(change(linked), change({ state: 'close', code: 401 })))
    expect(await stored()).toMatchObject({ state: 'close', state_code: 401 })
  })

  it('is ignored if it came through no instance, another organization’s, or one of another kind', async () => {
    const other = await world.createOrganization()
    const business = await insert('business_api')
    await apply(body(change(linked)), null)
    await apply(body(change(linked)), sandbox.id, other.id)
    await apply(body(change({ state: 'open' }, business.phone_number_id)), business.id)
    expect(await stored()).toEqual(closed)
    expect(await stored(business)).toEqual(closed)
  })

  it('is ignored if it is about another number', async () => {
    await apply(body(change(linked, `${organization.id}/other`)))
    expect(await stored()).toEqual(closed)
  })
})

describe('a connection in a callback', () => {
  it.each([
    ['a value that is not an object', 7],
    ['no state', {}],
    ['an unknown state', { state: 'ajar' }],
  ])('is rejected with %s', (_what, connection) => {
    expect(readConnectionChanges(body(change(connection), { field: 'connection' }, 7))).toEqual([])
  })

  it('contains only values that can be stored', () => {
    const connection = { state: 'close', code: 2 ** 40, number: 'x', name: `${'n'.repeat(300)}\u0000` }
    expect(readConnectionChanges(body(change(connection, 7)))).toEqual([
      { phoneNumberId: null, state: 'close', code: null, owner: null, profileName: 'n'.repeat(200) },
    ])
  })

  it('is ignored in callbacks of messages', () => {
    expect(readConnectionChanges({ entry: [] })).toEqual([])
  })
})
