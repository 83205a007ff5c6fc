import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { describeInterface } from '../../http/description/describe.js'
import { IDEMPOTENCY_HEADER } from '../../http/idempotency.js'
import { eventWebhooks } from './webhooks/event-schemas.js'

const DESCRIPTION = `Contacts, conversations, messages, broadcasts and webhooks of one organization. Parley sends and receives
its messages by WhatsApp's business platform, which is called the upstream here.

Every answer is JSON; exports are CSV if you ask for it. Errors have a fixed name in \`error\`, and say in \`message\` what
was wrong. Unknown parameters and fields are ignored; the answer names them in \`warnings\`.

A POST with an \`Idempotency-Key\` can be repeated safely: for 24 hours the same key and body give the first answer again.

Guides: [a tour](/docs/tour.md), [the API](/docs/api.md), [webhooks](/docs/webhooks.md), [broadcasts](/docs/broadcasts.md),
[import and export](/docs/import-export.md), [the simulator](/docs/simulator.md), and [all others](/docs/llms.txt).`

/** The description of Interface A at /openapi.json: OpenAPI 3.1.0, version 1.0.0. */
export const apiDescription: FastifyDynamicSwaggerOptions = describeInterface({
  title: 'Parley API',
  description: DESCRIPTION,
  tags: {
    contacts: { name: 'Contacts', description: 'The people and groups that the organization talks to' },
    conversations: { name: 'Conversations', description: 'Messages with one contact, in order, and their search' },
    numbers: { name: 'Business numbers', description: "The organization's numbers at WhatsApp" },
    messages: { name: 'Messages', description: 'Send messages, and templates to one person' },
    templates: { name: 'Templates', description: 'Message templates: make, list and fetch them' },
    broadcasts: { name: 'Broadcasts', description: 'Send a template to many recipients' },
    audiences: { name: 'Audiences', description: 'Recipients of broadcasts, uploaded as files' },
    shortLinks: { name: 'Short links', description: 'Links that count their clicks' },
    analytics: { name: 'Analytics', description: 'Delivery, clicks, opt-outs and revenue of broadcasts' },
    optOuts: { name: 'Opt-outs', description: 'Contacts that do not want broadcasts' },
    webhooks: { name: 'Webhooks', description: 'Endpoints that events are posted to' },
    deliveries: { name: 'Deliveries', description: 'The log of webhook deliveries, and replays' },
    events: { name: 'Events', description: 'Everything that happened: as a feed to read, and as posted to webhooks' },
  },
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the organization: parley_…' },
  },
  security: [{ apiKey: [] }],
  limited: true,
  webhooks: eventWebhooks,
  examples: 'api',
  transform: ({ schema, url, route }) => ({
    url,
    schema: {
      ...schema,
      hide: schema?.hide || url.startsWith('/gateway') || url.startsWith('/admin'),
      ...(route.method === 'POST' ? { headers: IDEMPOTENCY_HEADER } : {}),
      ...describeFile(route.config?.contentType),
    },
  }),
})

const FILE = { type: 'string', format: 'binary' }
/** In a form the file is a part. */
const FORM = { type: 'object', required: ['file'], properties: { file: FILE } }

/**
 * The body of a request that is a file is read by the endpoint itself, and has no schema there. `a or b`: one of two
 * types.
 */
function describeFile(contentType: string | undefined): object {
  if (contentType === undefined) return {}
  const types = contentType.split(' or ')
  const content = types.map((type) => [type, { schema: type === 'multipart/form-data' ? FORM : FILE }])
  return { consumes: types, body: { content: Object.fromEntries(content) } }
}
