import type { Examples } from '../../../http/description/examples.js'
import { examples as chat } from './chat.js'
import { examples as event } from './event.js'
import { examples as instance } from './instance.js'
import { examples as message } from './message.js'
import { examples as settings } from './settings.js'
import { examples as webhook } from './webhook.js'

/** By operationId; recorded by test/interfaces/description. */
export const examples: Examples = {
  ...chat,
  ...event,
  ...instance,
  ...message,
  ...settings,
  ...webhook,
}
