import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { dropNotGiven } from '../../http/given.js'
import { reportUnknown } from '../../http/unknown-fields.js'
import { broadcastAnalyticsRoutes } from './broadcasts/analytics.js'
import { audienceRoutes } from './broadcasts/audiences.js'
import { broadcastRoutes } from './broadcasts/broadcasts.js'
import { broadcastControlRoutes } from './broadcasts/controls.js'
import { broadcastRecipientRoutes } from './broadcasts/recipients.js'
import { shortLinkRoutes } from './broadcasts/short-links.js'
import { contactRoutes } from './contacts/contacts.js'
import { exportRoutes } from './contacts/exports.js'
import { contactImportRoutes } from './contacts/import.js'
import { optOutRoutes } from './contacts/opt-outs.js'
import { conversationMarkRoutes } from './conversation-marks.js'
import { conversationRoutes } from './conversations.js'
import { mediaRoutes } from './messages/media.js'
import { scheduledRoutes } from './messages/scheduled.js'
import { sendChatRoutes } from './messages/send-chat.js'
import { sendTemplateRoutes } from './messages/send-template.js'
import { templateRoutes } from './messages/templates.js'
import { traceRoutes } from './messages/trace.js'
import { numberRoutes } from './numbers.js'
import { templateCheckRoutes } from './templates/check.js'
import { templateExampleRoutes } from './templates/examples.js'
import { templateLibraryRoutes } from './templates/library.js'
import { templateChangeRoutes } from './templates/manage.js'
import { webhookControlRoutes } from './webhooks/controls.js'
import { webhookDeliveryRoutes } from './webhooks/deliveries.js'
import { eventRoutes } from './webhooks/events.js'
import { webhookReplayRoutes } from './webhooks/replays.js'
import { webhookRoutes } from './webhooks/webhooks.js'

/** Interface A: every route. It is mounted behind a guard: that of API keys, or that of the console's sessions. */
export function apiRoutes(ctx: Context): FastifyPluginAsync {
  return async (plain) => {
    reportUnknown(plain, ctx.log)
    dropNotGiven(plain)
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    contactRoutes(server, ctx) //       GET POST PATCH DELETE /contact
    conversationRoutes(server, ctx) //  GET /conversations
    conversationMarkRoutes(server, ctx) // POST /conversations/{read|typing}
    exportRoutes(server, ctx) //        GET /contacts/export, GET /conversations/export
    contactImportRoutes(server, ctx) // POST /contacts/import
    optOutRoutes(server, ctx) //        GET /opt-outs, GET /opt-outs/export, POST /opt-outs/import
    numberRoutes(server, ctx) //        GET /numbers
    traceRoutes(server, ctx) //         GET /messages/{id}/trace
    mediaRoutes(server, ctx) //         POST /media
    sendChatRoutes(server, ctx) //      POST /send-chat
    sendTemplateRoutes(server, ctx) //  POST /send-template
    scheduledRoutes(server, ctx) //     GET /scheduled, PATCH DELETE /scheduled/{id}
    audienceRoutes(server, ctx) //      POST GET /audiences, GET DELETE /audiences/{id}
    broadcastRoutes(server, ctx) //     POST GET /broadcasts, GET /broadcasts/{id}
    broadcastRecipientRoutes(server, ctx) // GET /broadcasts/{id}/recipients
    broadcastControlRoutes(server, ctx) // POST /broadcasts/{id}/{pause|resume|cancel|retry-failed}
    shortLinkRoutes(server, ctx) //     POST GET /shortlinks
    broadcastAnalyticsRoutes(server, ctx) // GET POST /broadcast-analytics
    templateRoutes(server, ctx) //      GET /templates, POST /templates/sync
    templateChangeRoutes(server, ctx) // POST PATCH DELETE /templates
    templateCheckRoutes(server, ctx) //  POST /templates/check
    templateLibraryRoutes(server, ctx) // GET /templates/library
    templateExampleRoutes(server, ctx) // POST /templates/examples
    webhookRoutes(server, ctx) //       POST DELETE /set-webhooks, GET /get-webhooks
    webhookControlRoutes(server, ctx) // POST /set-webhooks/{id}/{rotate-secret|enable|test}
    webhookDeliveryRoutes(server, ctx) // GET /webhook-deliveries, GET /webhook-deliveries/{id}
    webhookReplayRoutes(server, ctx) // POST /webhook-deliveries/{id}/replay, POST /webhook-deliveries/replay
    eventRoutes(server, ctx) //         GET /events
  }
}
