import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { blobKey } from '../../../src/model/messages/media.js'
import { BACKUP_LOCK } from '../../../src/storage/processes/backup-lock.js'
import { makeJobsDue } from '../../support/jobs.js'
import { mediaRows } from '../../support/rows/media.js'
import { useOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '16505550001'

const world = useWorld()
const organization = useOrganization(world)
let key: string

beforeAll(async () => {
  const inbound = { phone_number_id: organization.phoneNumberId, from: CUSTOMER, type: 'image', image: {} }
  await world.sim('POST', '/inbound', inbound)
  await world.settle()
  const [file] = await mediaRows(world, organization)
  key = blobKey(organization.id, file.id)
})

const isStored = async () => (await world.app.ctx.blobs.sizes([key]))[0] !== null

it('files of an erased contact stay while a backup runs', async () => {
  const backup = new pg.Client(world.database.connection)
  await backup.connect()
  await backup.query(`SELECT pg_advisory_lock(${BACKUP_LOCK})`)
  const erased = await world.request('DELETE', `/contact?chat_id=${CUSTOMER}`, { key: organization.key })
  expect(erased.status, JSON.stringify(erased.body)).toBe(200)
  await world.drain()
  expect(await isStored()).toBe(true)
  await backup.end()
  await makeJobsDue(world.app.ctx)
  await world.drain()
  expect(await isStored()).toBe(false)
})
