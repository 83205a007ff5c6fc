import { it } from 'vitest'
import { TIMES } from '../../../support/times.js'
import { useOrganization, useWorld } from '../../../support/world.js'
import { checkHistories } from './histories.js'

const RUNS = Number(process.env.PARLEY_TEST_IDENTITY_RUNS ?? 80 * TIMES)

const world = useWorld()
const organization = useOrganization(world)

it(
  'no message is stored with another person if numbers change hands and reports arrive in any order',
  () => checkHistories({ world, organization }, { runs: RUNS, atOnce: 8 }),
  Math.max(60_000, RUNS * 200),
)
