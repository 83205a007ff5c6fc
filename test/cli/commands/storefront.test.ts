import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { connectStorefront, ordersOf } from '../../support/storefront.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = {
    ...besideService(world.database.connection),
    PARLEY_DATA_DIR: folder.path,
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8',
  }
})

beforeEach(async () => {
  await world.sim('POST', '/reset', {})
  organization = await world.createOrganization()
})

const connect = (one = organization) => connectStorefront(world, one, { url: world.simulator.storefrontUrl })
const sync = (...args: string[]) => run(['storefront', 'sync', '--org', organization.slug, ...args], env)

describe('storefront sync', () => {
  it('records the orders of the organization, and prints their number', async () => {
    const other = await world.createOrganization()
    await connect()
    await connect(other)
    for (const id of [1, 2]) await world.sim('POST', '/shop/orders', { id })
    expect(await sync()).toMatchObject({ code: 0, out: 'orders  2\n', err: '' })
    expect(await ordersOf(world, organization)).toMatchObject([{ id: '1' }, { id: '2' }])
    expect(await ordersOf(world, other)).toEqual([])
    expect((await sync('--json')).json()).toEqual({ orders: 2 })
  })

  it('ends with 1 without a storefront', async () => {
    expect(await sync()).toMatchObject({ code: 1, out: '', err: expect.stringContaining('has no storefront') })
  })

  it('ends with 1 if the storefront cannot be reached', async () => {
    await connect()
    await world.sim('POST', '/settings', { shop_answers: 'down' })
    const { code, err } = await sync()
    expect({ code, err }).toEqual({
      code: 1,
      err: 'parley: The storefront could not be asked (0 orders so far): HTTP 503: Service Unavailable\n',
    })
  })

  it('ends with 1 for an unknown organization, and with 2 without one', async () => {
    expect(await run(['storefront', 'sync', '--org', 'nobody'], env)).toMatchObject({ code: 1 })
    expect(await run(['storefront', 'sync'], env)).toMatchObject({ code: 2 })
  })
})
