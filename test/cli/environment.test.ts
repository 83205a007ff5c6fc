import { expect, it } from 'vitest'
import { requireConfig, requireKnownKey } from '../../src/cli/environment.js'
import { useWorld } from '../support/world.js'

const OURS = 'master-key-of-the-tests'
const ANOTHER = 'another-master-key-of-the-tests'

const world = useWorld()

const check = (masterKeys: string[], env: Record<string, string> = {}) =>
  requireKnownKey(requireConfig({ PARLEY_DATA_DIR: '/data', ...env }), world.database, { adminToken: '', masterKeys })

it('any key may begin with a database without credentials', async () => {
  await check([ANOTHER])
})

it('a process that has none of the keys of the stored credentials does not start', async () => {
  await world.createOrganization()
  await check([OURS])
  await check([ANOTHER, OURS])
  const another = /were encrypted with another PARLEY_SECRET than the one/
  await expect(check([ANOTHER])).rejects.toThrow(another)
  await expect(check([ANOTHER])).rejects.toThrow('that was generated in /data')
  await expect(check([ANOTHER], { PARLEY_SECRET: ANOTHER })).rejects.toThrow('of this process')
})
