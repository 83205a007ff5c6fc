import type { HTTPMethods } from 'fastify'
import { Problem } from '../../model/problem.js'
import type { GatewayServer } from './server.js'

/** Endpoints of other gateways that are not here: `/{area}/{verb}/{instance}`, and why, or what to use in their place. */
interface UnsupportedGroup {
  area: string
  text: string
  /** Verbs that are read with GET, written with POST (by older clients with PUT), removed with DELETE. */
  read?: string[]
  write?: string[]
  remove?: string[]
}

const METHODS = { read: ['GET'], write: ['POST', 'PUT'], remove: ['DELETE'] } as const

const PROFILE = 'The profile of a number is changed on its phone, or in the account of the business number'
const EVENTS = 'Events go to a webhook here: POST /webhook/set/{instance}; or read them by GET /events of the API'
const BOTS =
  'Bots are connected by webhook here: POST /webhook/set/{instance} to hear, POST /message/sendText/{instance} to speak'
const ANY_VERB = [':verb', ':verb/:id']

const UNSUPPORTED: readonly UnsupportedGroup[] = [
  {
    area: 'message',
    text: 'Status posts and carousels are not sent here: send each recipient a message of another kind',
    write: ['sendStatus', 'sendCarousel'],
  },
  {
    area: 'chat',
    text: 'The lists of channels and the votes of a poll are not kept here',
    read: ['findChannels'],
    write: ['findChannels', 'getPollVote'],
  },
  {
    area: 'chat',
    text: 'Whether a voice note has been played is not told here: use POST /chat/markMessageAsRead/{instance}',
    write: ['markMessageAsPlayed'],
  },
  {
    area: 'chat',
    text: 'A number is not blocked at the network here: PATCH /contact of the API with blocked = true stops sends to it',
    write: ['updateBlockStatus'],
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
    text: 'Business profiles are not read here: POST /chat/fetchProfile/{instance} tells name and picture',
    write: ['fetchBusinessProfile'],
  },
  {
    area: 'group',
    text: 'Groups are managed on a phone, not here; a message goes to a group by its id in place of a number',
    read: ['findGroupInfos', 'fetchAllGroups', 'participants', 'inviteCode', 'inviteInfo', 'acceptInviteCode'],
    write: [
      ...['create', 'updateGroupSubject', 'updateGroupPicture', 'updateGroupDescription', 'updateMemberAddMode'],
      ...['sendInvite', 'revokeInviteCode', 'updateParticipant', 'updateSetting', 'toggleEphemeral'],
    ],
    remove: ['leaveGroup'],
  },
  {
    area: 'label',
    text: 'Labels of the phone are not read here: PATCH /contact of the API gives contacts tags',
    read: ['findLabels'],
    write: ['handleLabel'],
  },
  { area: 'call', text: 'Calls are not made here: they belong to the phone', write: ['offer'] },
  {
    area: 'proxy',
    text: 'An instance has no proxy of its own: all of them go out where the service runs',
    read: ['find'],
    write: ['set'],
  },
  {
    area: 'business',
    text: 'Catalogues are kept in the account of the business number, and not read here',
    write: ['getCatalog', 'getCollections'],
  },
  {
    area: 'template',
    text: 'Templates are made in the account of the business number; GET /templates of the API lists them',
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
    text: 'The library of linked devices is not called from outside: use /message and /chat of the instance',
    read: ANY_VERB,
    write: ANY_VERB,
  },
  {
    area: 's3',
    text: 'Files are read by POST /chat/getBase64FromMediaMessage/{instance}, or at the address in the message',
    write: ['getMedia', 'getMediaUrl'],
  },
]

/** What clients of other gateways may ask for and is not here: 501 that says why (contract 5), never a 404. */
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
    'Credentials are not looked up here: a request whose key opens it does not answer 401',
  )
}

function refuse(server: GatewayServer, methods: readonly HTTPMethods[], url: string, text: string): void {
  server.route({
    method: [...methods],
    url,
    config: { takesTokens: true },
    schema: { hide: true } as object,
    // Before the body is read: whatever it holds, there is nothing that could take it.
    onRequest: async () => {
      throw new Problem('not_supported', text)
    },
    handler: () => undefined,
  })
}
