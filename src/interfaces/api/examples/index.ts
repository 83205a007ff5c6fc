import type { Examples } from '../../../http/description/examples.js'
import { examples as analytics } from './analytics.js'
import { examples as audiences } from './audiences.js'
import { examples as broadcasts } from './broadcasts.js'
import { examples as contacts } from './contacts.js'
import { examples as conversations } from './conversations.js'
import { examples as deliveries } from './deliveries.js'
import { examples as events } from './events.js'
import { examples as messages } from './messages.js'
import { examples as optOuts } from './opt-outs.js'
import { examples as shortLinks } from './short-links.js'
import { examples as templates } from './templates.js'
import { examples as webhooks } from './webhooks.js'

/** By operationId; recorded by test/interfaces/description. */
export const examples: Examples = {
  ...analytics,
  ...audiences,
  ...broadcasts,
  ...contacts,
  ...conversations,
  ...deliveries,
  ...events,
  ...messages,
  ...optOuts,
  ...shortLinks,
  ...templates,
  ...webhooks,
}
