import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { tellUnknown } from '../../http/unknown-fields.js'
import { broadcastAnalyticsRoutes } from './broadcast-analytics.js'
import { broadcastControlRoutes } from './broadcast-controls.js'
import { broadcastRecipientRoutes } from './broadcast-recipients.js'
import { broadcastRoutes } from './broadcasts.js'
import { contactImportRoutes } from './contact-import.js'
import { contactRoutes } from './contacts.js'
import { conversationRoutes } from './conversations.js'
import { eventRoutes } from './events.js'
import { exportRoutes } from './exports.js'
import { optOutRoutes } from './opt-outs.js'
import { sendChatRoutes } from './send-chat.js'
import { sendTemplateRoutes } from './send-template.js'
import { shortLinkRoutes } from './shortlinks.js'
import { templateRoutes } from './templates.js'
import { webhookDeliveryRoutes } from './webhook-deliveries.js'
import { webhookRoutes } from './webhooks.js'

/** Interface A: every route. Whoever mounts it puts a guard before it: that of keys, or that of the console's sessions. */
export function apiRoutes(ctx: Context): FastifyPluginAsync {
  return async (plain) => {
    tellUnknown(plain, ctx.log)
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    contactRoutes(server, ctx) //       GET POST PATCH DELETE /contact
    conversationRoutes(server, ctx) //  GET /conversations
    exportRoutes(server, ctx) //        GET /contacts/export, GET /conversations/export
    contactImportRoutes(server, ctx) // POST /contacts/import
    optOutRoutes(server, ctx) //        GET /opt-outs, GET /opt-outs/export, POST /opt-outs/import
    sendChatRoutes(server, ctx) //      POST /send-chat
    sendTemplateRoutes(server, ctx) //  POST /send-template
    broadcastRoutes(server, ctx) //     POST GET /broadcasts, GET /broadcasts/{id}
    broadcastRecipientRoutes(server, ctx) // GET /broadcasts/{id}/recipients
    broadcastControlRoutes(server, ctx) // POST /broadcasts/{id}/{pause|resume|cancel|retry-failed}
    shortLinkRoutes(server, ctx) //     POST GET /shortlinks
    broadcastAnalyticsRoutes(server, ctx) // GET POST /broadcast-analytics
    templateRoutes(server, ctx) //      GET /templates, POST /templates/sync
    webhookRoutes(server, ctx) //       POST DELETE /set-webhooks, POST /set-webhooks/{id}/{rotate-secret|enable|test}, GET /get-webhooks
    webhookDeliveryRoutes(server, ctx) // GET /webhook-deliveries, GET /webhook-deliveries/{id}, POST …/{id}/replay, POST …/replay
    eventRoutes(server, ctx) //         GET /events
  }
}
