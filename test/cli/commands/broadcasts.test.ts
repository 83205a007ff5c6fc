import { beforeAll, describe, expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../src/core/broadcasts/reconcile.js'
import { MINUTE, startBroadcastWorld } from '../../support/broadcasts.js'
import { besideService, run, useFolder } from '../../support/cli.js'
import { useStarted } from '../../support/started.js'

const folder = useFolder()
const at = useStarted(startBroadcastWorld)
let env: Record<string, string>

beforeAll(async () => {
  env = { ...besideService(at.world.database.connection), PARLEY_DATA_DIR: folder.path }
})

const broadcasts = (...args: string[]) => run(['broadcasts', ...args], env)
const toNew = () => ({ audience: { recipients: [{ chatNumber: at.newNumber() }] } })

describe('broadcasts list', () => {
  it('lists those of all organizations, newest first, with the organization and the reason of each', async () => {
    const scheduled_at = new Date(at.world.now().getTime() + MINUTE).toISOString()
    const late = await at.create({ ...toNew(), name: 'Late', scheduled_at })
    await at.world.database.pool.query(`UPDATE broadcasts SET scheduled_at = now() - interval '7 hours'`)
    await reconcileBroadcasts(at.world.app.ctx)
    const foreign = await at.ask('POST', '/broadcasts', {
      key: at.other.key,
      body: { name: 'Foreign', templateName: 'hello_world', ...toNew() },
    })
    const all = (await broadcasts('list', '--json')).json()
    expect(all).toMatchObject([
      { organization: at.other.slug, id: foreign.body.broadcast.id, reason: null },
      { organization: at.organization.slug, id: late.id, status: 'paused', reason: 'late' },
    ])
    const paused = await broadcasts('list', '--status', 'paused')
    expect(paused.out.split('\n')).toEqual([
      expect.stringMatching(/^organization +id +name +template +status +reason +recipients +skipped +started_at$/),
      expect.stringMatching(new RegExp(`^${at.organization.slug} +${late.id} +Late .* paused +late +1 +0 +-$`)),
      '',
    ])
    const own = (await broadcasts('list', '--org', at.organization.slug, '--json')).json()
    expect(own.map(({ id }: { id: string }) => id)).toEqual([late.id])
    expect((await broadcasts('list', '--page', '2', '--json')).json()).toEqual([])

    expect((await broadcasts('resume', late.id, '--org', at.other.slug)).code).toBe(1)
    const resumed = await broadcasts('resume', late.id, '--org', at.organization.slug, '--json')
    expect(resumed.json()).toMatchObject({ status: 'running', reason: null })
  })

  it('lists one-off sends of one organization only', async () => {
    expect(await broadcasts('list', '--singles')).toMatchObject({ code: 2, err: expect.stringContaining('--org') })
    expect(await broadcasts('list', '--singles', '--org', at.organization.slug)).toMatchObject({ code: 0 })
  })
})
