import { it } from 'vitest'
import { useOrganization, useWorld } from '../../../support/world.js'
import { checkHistories } from './histories.js'

const world = useWorld()
const organization = useOrganization(world)

it(
  'no message is stored with another person in 10,000 histories',
  () => checkHistories({ world, organization }, { runs: 10_000, atOnce: 100 }),
  600_000,
)
