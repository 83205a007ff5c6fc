import type { Context } from '../../../context.js'
import type { GatewayServer } from '../server.js'
import { blockingRoutes } from './blocking.js'
import { changeRoutes } from './changes.js'
import { chatListRoutes } from './chats.js'
import { contactRoutes } from './contacts.js'
import { fileRoutes } from './files.js'
import { markRoutes } from './marks.js'
import { messageRoutes } from './messages.js'
import { peopleRoutes } from './people.js'

/** `/chat`: an instance's chats, messages and contacts, and commands for them. */
export function chatRoutes(server: GatewayServer, ctx: Context): void {
  messageRoutes(server, ctx) //  POST findMessages, findStatusMessage
  chatListRoutes(server, ctx) // POST GET findChats, GET findChatByRemoteJid
  contactRoutes(server, ctx) //  POST GET findContacts
  markRoutes(server, ctx) //     POST PUT markMessageAsRead, markChatUnread, archiveChat
  blockingRoutes(server, ctx) // POST PUT updateBlockStatus
  changeRoutes(server, ctx) //   POST PUT updateMessage, DELETE deleteMessageForEveryone
  peopleRoutes(server, ctx) //   POST whatsappNumbers, sendPresence, fetchProfilePictureUrl, fetchProfile
  fileRoutes(server, ctx) //     POST getBase64FromMediaMessage
}
