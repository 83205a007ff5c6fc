import type { Examples } from '../../../http/description/examples.js'
import { examples as keys } from './keys.js'
import { examples as members } from './members.js'
import { examples as organizations } from './organizations.js'

/** By operationId; recorded by test/interfaces/description. */
export const examples: Examples = {
  ...keys,
  ...members,
  ...organizations,
}
