import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { createGuard, type Gate } from '../../http/auth.js'
import { contactImportRoutes } from './contact-import.js'
import { contactRoutes } from './contacts.js'
import { conversationRoutes } from './conversations.js'
import { exportRoutes } from './exports.js'
import { sendChatRoutes } from './send-chat.js'

/** Interface A: every route, behind the guard. */
export function apiRoutes(ctx: Context, gate: Gate): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.addHook('onRequest', createGuard(gate))
    contactRoutes(server, ctx) //       GET POST PATCH DELETE /contact
    conversationRoutes(server, ctx) //  GET /conversations
    exportRoutes(server, ctx) //        GET /contacts/export, GET /conversations/export
    contactImportRoutes(server, ctx) // POST /contacts/import
    sendChatRoutes(server, ctx) //      POST /send-chat
  }
}
