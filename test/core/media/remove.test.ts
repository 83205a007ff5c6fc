import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { removeMedia } from '../../../src/core/media/remove.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { blobKey } from '../../../src/model/messages/media.js'
import { insertMedia } from '../../../src/storage/messages/media.js'
import { storedBytes } from '../../support/received-files.js'
import { mediaRows } from '../../support/rows/media.js'
import { type TestOrganization, useOrganization, useWorld } from '../../support/world.js'

const DAY = 24 * 60 * 60_000

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-media-'))
  await writeFile(join(folder, 'file'), 'bytes')
})

afterAll(() => rm(folder, { recursive: true }))

/** Stores a file; resolves to its id. */
async function store(owner: TestOrganization, messageId: string | null): Promise<string> {
  const id = newId()
  await insertMedia(world.database, owner.id, { id, mimeType: 'x/y', size: 5, filename: null, messageId })
  await world.app.ctx.blobs.put(blobKey(owner.id, id), join(folder, 'file'), 'x/y')
  return id
}

describe('pruning', () => {
  it('removes only files that no message has used within a day', async () => {
    const abandoned = [await store(organization, null), await store(organization, null), await store(other, null)]
    const attached = await store(organization, newId())
    await prune(world.app.work)
    expect(await mediaRows(world)).toHaveLength(4)
    world.advance(DAY + 60_000)
    await prune(world.app.work)
    expect(await mediaRows(world)).toMatchObject([{ id: attached }])
    expect(await storedBytes(world, organization, attached)).not.toBeNull()
    for (const id of abandoned) {
      expect(await storedBytes(world, organization, id)).toBeNull()
      expect(await storedBytes(world, other, id)).toBeNull()
    }
  })
})

describe('removing', () => {
  it('deletes only the file of its own organization, and can be repeated', async () => {
    const id = await store(organization, newId())
    await removeMedia(world.app.ctx, other.id, [id])
    expect(await storedBytes(world, organization, id)).not.toBeNull()
    await removeMedia(world.app.ctx, organization.id, [id])
    await removeMedia(world.app.ctx, organization.id, [id])
    expect(await storedBytes(world, organization, id)).toBeNull()
  })
})
