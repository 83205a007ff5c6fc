import type { HTTPMethods } from 'fastify'
import { Problem } from '../../model/problem.js'
import type { GatewayServer } from './server.js'

/**
 * Endpoints `/{area}/{verb}/{instance}` of other gateways that Parley lacks. `text` gives the reason or an alternative.
 */
interface UnsupportedGroup {
  area: string
  text: string
  /** Verbs called with GET (`read`), POST or, by older clients, PUT (`write`), and DELETE (`remove`). */
  read?: string[]
  write?: string[]
  remove?: string[]
}

const METHODS = { read: ['GET'], write: ['POST', 'PUT'], remove: ['DELETE'] } as const

const PROFILE = "Change a number's profile on its phone or in the account of the business number"
const EVENTS =
  'Events are delivered to webhooks: use POST /webhook/set/{instance}, or read them with GET /events of the API'
const BOTS =
  'Connect bots with a webhook: POST /webhook/set/{instance} to receive, POST /message/sendText/{instance} to send'
const ANY_VERB = [':verb', ':verb/:id']

const UNSUPPORTED: readonly UnsupportedGroup[] = [
  {
    area: 'message',
    text: 'Status posts are not supported: send each recipient another type of message',
    write: ['sendStatus'],
  },
  {
    area: 'chat',
    text: 'Lists of channels and votes in polls are not stored',
    read: ['findChannels'],
    write: ['findChannels', 'getPollVote'],
  },
  {
    area: 'chat',
    text: 'Voice notes cannot be marked as played: use POST /chat/markMessageAsRead/{instance}',
    write: ['markMessageAsPlayed'],
  },
  {
    area: 'chat',
    text: PROFILE,
    read: ['fetchPrivacySettings'],
    write: ['updateProfileName', 'updateProfileStatus', 'updateProfilePicture', 'updatePrivacySettings'],
    remove: ['removeProfilePicture'],
  },
  {
    area: 'chat',
    text: 'Business profiles are not supported: POST /chat/fetchProfile/{instance} returns name and picture',
    write: ['fetchBusinessProfile'],
  },
  {
    area: 'group',
    text: "Manage groups on a phone; to send to a group, give the group's id in place of a number",
    read: ['findGroupInfos', 'fetchAllGroups', 'participants', 'inviteCode', 'inviteInfo', 'acceptInviteCode'],
    write: [
      ...['create', 'updateGroupSubject', 'updateGroupPicture', 'updateGroupDescription', 'updateMemberAddMode'],
      ...['sendInvite', 'revokeInviteCode', 'updateParticipant', 'updateSetting', 'toggleEphemeral'],
    ],
    remove: ['leaveGroup'],
  },
  {
    area: 'label',
    text: "The phone's labels are not supported: use tags of contacts, with PATCH /contact of the API",
    read: ['findLabels'],
    write: ['handleLabel'],
  },
  { area: 'call', text: 'Calls are not supported: use the phone', write: ['offer'] },
  {
    area: 'proxy',
    text: 'Instances have no proxy of their own: all connect from where the service runs',
    read: ['find'],
    write: ['set'],
  },
  {
    area: 'business',
    text: 'Catalogs are not supported: they are in the account of the business number',
    write: ['getCatalog', 'getCollections'],
  },
  {
    area: 'template',
    text: 'Create templates in the account of the business number; GET /templates of the API lists them',
    read: ['find'],
    write: ['create', 'edit'],
    remove: ['delete'],
  },
  ...['websocket', 'rabbitmq', 'sqs', 'nats', 'kafka', 'pusher'].map((area) => ({
    area,
    text: EVENTS,
    read: ['find'],
    write: ['set'],
  })),
  ...['chatwoot', 'typebot', 'openai', 'dify', 'flowise', 'n8n', 'evoai', 'evolutionBot', 'chamaai'].map((area) => ({
    area,
    text: BOTS,
    read: ANY_VERB,
    write: ANY_VERB,
    remove: ANY_VERB,
  })),
  {
    area: 'baileys',
    text: 'The library of linked devices cannot be called directly: use /message and /chat of the instance',
    read: ANY_VERB,
    write: ANY_VERB,
  },
  {
    area: 's3',
    text: 'Get files with POST /chat/getBase64FromMediaMessage/{instance}, or from the URL in the message',
    write: ['getMedia', 'getMediaUrl'],
  },
]

/** Answers 501 with a reason for what clients know from other gateways and Parley lacks. They would misread a 404. */
export function unsupportedRoutes(server: GatewayServer): void {
  for (const { area, text, ...verbs } of UNSUPPORTED) {
    for (const way of ['read', 'write', 'remove'] as const) {
      for (const verb of verbs[way] ?? []) refuse(server, METHODS[way], `/${area}/${verb}/:instance`, text)
    }
  }
  refuse(
    server,
    ['POST'],
    '/verify-creds',
    'Checking credentials is not supported: call any endpoint, and a wrong key is answered with 401',
  )
}

function refuse(server: GatewayServer, methods: readonly HTTPMethods[], url: string, text: string): void {
  server.route({
    method: [...methods],
    url,
    config: { takesTokens: true },
    schema: { hide: true } as object,
    // Before the body is read, since nothing uses it.
    onRequest: async () => {
      throw new Problem('not_supported', text)
    },
    handler: () => undefined,
  })
}
