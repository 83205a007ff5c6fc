import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.js'
import { uploadMedia } from '../../../src/core/media/upload.js'
import { organizationChannel } from '../../../src/core/messages/send/channel.js'
import { newId } from '../../../src/lib/bytes/id.js'
import type { Tenant } from '../../../src/model/organizations/organization.js'
import { findTenantsById } from '../../../src/storage/organizations/organizations.js'
import { startHttpServer } from '../../support/http-server.js'
import { png } from '../../support/media.js'
import { mediaRows } from '../../support/rows/media.js'
import { useStarted } from '../../support/started.js'
import { useWorld } from '../../support/world.js'

const files = useStarted(() =>
  startHttpServer(({ path }, response) => {
    if (path === '/trickle') response.write(png().subarray(0, 20))
  }),
)
const world = useWorld()
let tenant: Tenant

beforeAll(async () => {
  const { id } = await world.createOrganization()
  const found = (await findTenantsById(world.database, [id])).get(id)
  if (!found) throw new Error('the organization is gone')
  tenant = found
})

const given = (path: string) => ({
  id: newId(),
  kind: 'image' as const,
  source: { url: `${files.url}${path}` },
  field: 'media_url',
  filename: null,
})

describe('a file that does not arrive in time', () => {
  /** The service's context with a thousandth of its deadlines; `asked` lists the original ones. */
  function impatient(asked: number[]): Context {
    const { ctx } = world.app
    const fetcher: Context['fetcher'] = {
      ...ctx.fetcher,
      download: (url, path, options) => {
        asked.push(options.timeoutMs)
        return ctx.fetcher.download(url, path, { ...options, timeoutMs: options.timeoutMs / 1_000 })
      },
    }
    return { ...ctx, fetcher }
  }

  it.each(['/silence', '/trickle'])('is refused after 30 s and leaves nothing behind: %s', async (path) => {
    const asked: number[] = []
    const ctx = impatient(asked)
    await expect(uploadMedia(ctx, tenant, organizationChannel(ctx, tenant).driver, given(path))).rejects.toMatchObject({
      code: 'invalid_media',
      message: 'media_url cannot be used: it took longer than 0.03 s',
    })
    expect(asked).toEqual([30_000])
    expect(await mediaRows(world)).toEqual([])
    expect((await world.sim('GET', '/media')).body.media).toEqual([])
    expect(await readdir(join(world.dataDir, 'spool'))).toEqual([])
  })
})
