import { type Account, ask, type Client, type Draft, Shown, toDigits } from './client.js'

/**
 * A Python library: a bearer token, the objects of its models unchanged, with null for fields that were not given and
 * extra fields, numbers with a plus, files in forms. It reads fields by index, and so throws if one is missing.
 */
export function pythonSdk({ url, key }: Account): Client {
  const request = async (method: string, path: string, body?: object) => {
    const isForm = body instanceof FormData
    const headers = { Authorization: `Bearer ${key}`, ...(!isForm && { 'Content-Type': 'application/json' }) }
    const reply = await ask(`${url}/${path}`, method, headers, body)
    if (reply.status < 300) return reply.body
    throw new Shown(reply.status, `${reply.body.error}: ${JSON.stringify(reply.body.response.message)}`)
  }
  return {
    create: async (instanceName, hookUrl) => {
      const made = await request('POST', 'instance/create', {
        ...{ instanceName, integration: 'SANDBOX', token: null, number: null, qrcode: true, businessId: null },
        ...{ rejectCall: null, msgCall: null, groupsIgnore: null, alwaysOnline: null, readMessages: null },
        ...{ proxyHost: null, webhook: { url: hookUrl, byEvents: null, base64: true, headers: null, events: null } },
        ...{ rabbitmq: null, sqs: null, chatwootAccountId: null },
      })
      return { token: at(made, 'hash'), qrCode: at(made, 'qrcode', 'base64') }
    },
    connect: async (instance) => {
      const answer = await request('GET', `instance/connect/${instance}`)
      return answer.base64 ?? at(answer, 'instance', 'state')
    },
    state: async (instance) => at(await request('GET', `instance/connectionState/${instance}`), 'instance', 'state'),
    instances: async () => {
      const rows: object[] = await request('GET', 'instance/fetchInstances/')
      return Object.fromEntries(rows.map((row) => [at(row, 'name'), at(row, 'connectionStatus')]))
    },
    restart: async (instance) => at(await request('PUT', `instance/restart/${instance}`), 'instance', 'state'),
    logout: async (instance) => at(await request('DELETE', `instance/logout/${instance}`), 'response', 'message'),
    remove: async (instance) => at(await request('DELETE', `instance/delete/${instance}`), 'response', 'message'),
    setWebhook: async (instance, hookUrl, events) => {
      const flags = { webhook_by_events: false, webhook_base64: true }
      const webhook = { enabled: true, url: hookUrl, headers: null, events, ...flags }
      const row = await request('POST', `webhook/set/${instance}`, { webhook })
      return { url: at(row, 'url'), events: row.events }
    },
    webhook: async (instance) => {
      const row = await request('GET', `webhook/find/${instance}`)
      return { url: at(row, 'url'), enabled: row.enabled, base64: row.webhookBase64 }
    },
    send: async (instance, number, draft) => {
      const [verb, fields] = bodyOf(draft)
      const body = isFile(fields) ? formOf({ number: plus(number), ...fields }) : { ...optionals(number), ...fields }
      const sent = await request('POST', `message/${verb}/${instance}`, body)
      return { id: at(sent, 'key', 'id'), remoteJid: at(sent, 'key', 'remoteJid'), fromMe: sent.key.fromMe }
    },
    texts: async (instance, number) => {
      const where = { key: { remoteJid: `+${number}`, id: null, fromMe: null }, messageType: null }
      const found = await request('POST', `chat/findMessages/${instance}`, { where, page: null, offset: null })
      return found.messages.records.map((record: object) => at(record, 'message').conversation)
    },
    chats: async (instance) => {
      const rows: object[] = await request('POST', `chat/findChats/${instance}`, { where: null })
      return rows.map((row) => at(row, 'remoteJid'))
    },
    names: async (instance, number) => {
      const body = { where: { id: null, remoteJid: `+${number}`, pushName: null }, number: `+${number}` }
      const rows: object[] = await request('POST', `chat/findContacts/${instance}`, body)
      return rows.map((row) => at(row, 'pushName'))
    },
    reachable: async (instance, numbers) => {
      const body = { numbers: numbers.map((number) => `+${number}`) }
      const rows: { exists: boolean; number: string }[] = await request(
        'POST',
        `chat/whatsappNumbers/${instance}`,
        body,
      )
      return rows.filter(({ exists }) => exists).map(({ number }) => number.replace('+', ''))
    },
    markRead: async (instance, key) => {
      const readMessages = [{ ...key, participant: null }]
      return at(
        await request('POST', `chat/markMessageAsRead/${instance}`, { readMessages, read_messages: null }),
        'read',
      )
    },
    showTyping: async (instance, number) => {
      const body = { number: `+${number}`, presence: 'composing', delay: null, options: null }
      return at(await request('POST', `chat/sendPresence/${instance}`, body), 'presence')
    },
    file: async (instance, { id }) => {
      const body = { message: { key: { id } }, convertToMp4: null }
      return Buffer.from(
        at(await request('POST', `chat/getBase64FromMediaMessage/${instance}`, body), 'base64'),
        'base64',
      )
    },
    edit: async (instance, key, text) => {
      const body = { number: `+${toDigits(key.remoteJid)}`, key: { ...key, participant: null }, text }
      return at(await request('PUT', `chat/updateMessage/${instance}`, body), 'message', 'protocolMessage', 'key', 'id')
    },
    takeBack: async (instance, key) => {
      const body = { ...key, participant: null }
      const sent = await request('DELETE', `chat/deleteMessageForEveryone/${instance}`, body)
      return at(sent, 'message', 'protocolMessage', 'key', 'id')
    },
    groups: (instance) => request('GET', `group/fetchAllGroups/${instance}?getParticipants=False`),
  }
}

/** The value at a path of a response. Throws if it is missing, as `answer['key']['id']` does in Python. */
// biome-ignore lint/suspicious/noExplicitAny: as indexing in Python returns it
function at(answer: any, ...path: string[]): any {
  let place = answer
  for (const name of path) {
    if (!Object.hasOwn(place, name)) throw new Error(`KeyError: ${name}`)
    place = place[name]
  }
  return place
}

/** Numbers have a plus; groups do not. */
const plus = (number: string) => (number.includes('@') ? number : `+${number}`)

/** The fields of every message, also those that were not given. */
const optionals = (number: string) => ({
  ...{ number: plus(number), delay: null, quoted: null, linkPreview: null, mentionsEveryOne: null, mentioned: null },
  ...{ messageId: null, options: null },
})

type Fields = Record<string, unknown>

const isFile = (fields: Fields) => fields.file instanceof Blob

/** Every field is a string, and the file has no meaningful name. */
function formOf(fields: Fields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Blob) form.set(name, value, 'file')
    else form.set(name, String(value))
  }
  return form
}

function bodyOf(draft: Draft): [verb: string, fields: Fields] {
  switch (draft.kind) {
    case 'text': {
      const quoted = draft.answers ? { key: { ...draft.answers, participant: null }, message: null } : null
      const mentioned = draft.mentions?.map((number) => `${number}@s.whatsapp.net`) ?? null
      return ['sendText', { text: draft.text, quoted, mentioned }]
    }
    case 'image':
      return ['sendMedia', { ...media('image', draft.url), caption: draft.caption }]
    case 'document': {
      const file = new Blob([new Uint8Array(draft.bytes)])
      const fields = { mediatype: 'document', mimetype: 'application/pdf', caption: '', fileName: draft.filename }
      return ['sendMedia', { ...fields, delay: '1', file }]
    }
    case 'voice':
      return ['sendWhatsAppAudio', { audio: draft.url, encoding: null }]
    case 'sticker':
      return ['sendSticker', { sticker: draft.url, notConvertSticker: null }]
    case 'video note':
      return ['sendPtv', { video: draft.url }]
    case 'place': {
      const { latitude, longitude, name } = draft
      return ['sendLocation', { latitude, longitude, name, address: null }]
    }
    case 'card': {
      const card = { fullName: draft.name, phoneNumber: `+${draft.number}`, wuid: draft.number }
      return ['sendContact', { contact: [{ ...card, organization: null, email: null, url: null }] }]
    }
    case 'reaction':
      return ['sendReaction', { reactionMessage: { key: draft.to, reaction: draft.emoji } }]
    case 'poll':
      return ['sendPoll', { name: draft.question, selectableCount: 1, values: draft.options }]
    case 'list': {
      const rows = draft.rows.map(({ id, title }) => ({ title, description: null, rowId: id }))
      const { title, text: description, button: buttonText } = draft
      return ['sendList', { title, description, buttonText, footerText: null, sections: [{ title: 'All', rows }] }]
    }
    case 'buttons': {
      const buttons = draft.buttons.map(({ id, title }) => ({ type: 'reply', displayText: title, id }))
      return ['sendButtons', { title: draft.title, description: draft.text, footer: null, buttons }]
    }
  }
}

const media = (mediatype: string, address: string): Fields => ({
  ...{ mediatype, media: address, mimetype: null, caption: null, fileName: null },
})
