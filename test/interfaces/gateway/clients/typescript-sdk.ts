import { type Account, ask, type Client, type Draft, type MessageKey, Shown, toDigits, toJid } from './client.js'

/**
 * A TypeScript library: flat bodies of version 2, a Content-Type on every request, a trailing slash, PUT for changes.
 * It drops the path of the base URL, and searches `response.message` for a text and a sent message for its content.
 */
export function typescriptSdk({ url, key }: Account): Client {
  const request = async (method: string, path: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json', apikey: key }
    const reply = await ask(new URL(`/${path}/`, url).href, method, headers, body)
    if (reply.status < 300) return reply.body
    throw new Shown(reply.status, textOf(reply.body.response.message) ?? `Request failed with status ${reply.status}`)
  }
  return {
    create: async (instanceName, hookUrl) => {
      const made = await request('POST', 'instance/create', {
        ...{ instanceName, integration: 'SANDBOX', qrcode: true, number: undefined, token: undefined },
        webhook: {
          url: hookUrl,
          webhookByEvents: false,
          webhookBase64: true,
          headers: {},
          events: ['MESSAGES_UPSERT'],
        },
        websocket: { enabled: false, events: [] },
      })
      return { token: made.hash, qrCode: made.qrcode.base64 }
    },
    connect: async (instance) => {
      const answer = await request('GET', `instance/connect/${instance}`)
      return 'base64' in answer ? answer.base64 : answer.instance.state
    },
    state: async (instance) => (await request('GET', `instance/connectionState/${instance}`)).instance.state,
    instances: async () => {
      const rows: { name: string; connectionStatus: string }[] = await request('GET', 'instance/fetchInstances')
      return Object.fromEntries(rows.map((row) => [row.name, row.connectionStatus]))
    },
    restart: async (instance) => (await request('POST', `instance/restart/${instance}`)).instance.state,
    logout: async (instance) => (await request('DELETE', `instance/logout/${instance}`)).response.message,
    remove: async (instance) => (await request('DELETE', `instance/delete/${instance}`)).response.message,
    setWebhook: async (instance, hookUrl, events) => {
      // Flat, with the names of version 2; the response has the form of version 1.
      const body = { enabled: true, url: hookUrl, webhookByEvents: false, webhookBase64: true, events }
      return (await request('POST', `webhook/set/${instance}`, body)).webhook.webhook
    },
    webhook: async (instance) => {
      const row = await request('GET', `webhook/find/${instance}`)
      return { url: row.url, enabled: row.enabled, base64: row.webhookBase64 }
    },
    send: async (instance, number, draft) => {
      const [verb, fields] = bodyOf(draft)
      const { key, messageTimestamp, message } = await request('POST', `message/${verb}/${instance}`, {
        number: toJid(number),
        ...fields,
      })
      if (Number.isNaN(new Date(messageTimestamp).getTime())) throw new Error('no time')
      if (Object.keys(message).length === 0) throw new Error('no message')
      return key
    },
    texts: async (instance, number) => {
      const body = { where: { key: { remoteJid: toJid(number) } } }
      const { messages } = await request('POST', `chat/findMessages/${instance}`, body)
      return messages.records.map(({ message }: { message: { conversation: string } }) => message.conversation)
    },
    chats: async (instance) => {
      const rows: MessageKey[] = await request('GET', `chat/findChats/${instance}`)
      return rows.map(({ remoteJid }) => remoteJid)
    },
    names: async (instance, number) => {
      const body = { where: { remoteJid: toJid(number) } }
      const rows: { pushName: string }[] = await request('POST', `chat/findContacts/${instance}`, body)
      return rows.map(({ pushName }) => pushName)
    },
    reachable: async (instance, numbers) => {
      const rows: { exists: boolean; jid: string }[] = await request('POST', `chat/whatsappNumbers/${instance}`, {
        numbers,
      })
      return rows.filter(({ exists }) => exists).map(({ jid }) => toDigits(jid))
    },
    markRead: async (instance, { id, remoteJid, fromMe }) =>
      (await request('POST', `chat/markMessageAsRead/${instance}`, { readMessages: [{ id, remoteJid, fromMe }] })).read,
    showTyping: async (instance, number) => {
      const body = { number: toJid(number), presence: 'composing', delay: 1 }
      return (await request('POST', `chat/sendPresence/${instance}`, body)).presence
    },
    file: async (instance, key) => {
      const body = { message: { key } }
      const { base64 } = await request('POST', `chat/getBase64FromMediaMessage/${instance}`, body)
      return Buffer.from(base64, 'base64')
    },
    edit: async (instance, key, text) => {
      const body = { number: toDigits(key.remoteJid), text, key }
      return (await request('PUT', `chat/updateMessage/${instance}`, body)).message.protocolMessage.key.id
    },
    takeBack: async (instance, key) =>
      (await request('DELETE', `chat/deleteMessageForEveryone/${instance}`, key)).message.protocolMessage.key.id,
    groups: (instance) => request('GET', `group/fetchAllGroups/${instance}`),
  }
}

/** The first string within a value, or the number that is not on WhatsApp. */
function textOf(message: unknown): string | null {
  if (typeof message === 'string') return message
  const [first] = Array.isArray(message) ? message : []
  if (Array.isArray(first)) return textOf(first)
  const { exists, number } = Object(first)
  return exists === false ? `${number} is not on WhatsApp` : (first ?? null)
}

function bodyOf(draft: Draft): [verb: string, fields: object] {
  switch (draft.kind) {
    case 'text':
      return [
        'sendText',
        {
          ...{ text: draft.text, delay: 1, linkPreview: false, mentioned: draft.mentions?.map(toJid) },
          ...(draft.answers && { quoted: { key: draft.answers, message: { conversation: 'as it was' } } }),
        },
      ]
    case 'image':
      return ['sendMedia', { mediatype: 'image', media: draft.url, caption: draft.caption, mimetype: 'image/png' }]
    case 'document':
      return ['sendMedia', { mediatype: 'document', media: draft.bytes.toString('base64'), fileName: draft.filename }]
    case 'voice':
      return ['sendWhatsAppAudio', { audio: draft.url, encoding: true, delay: 1 }]
    case 'sticker':
      return ['sendSticker', { sticker: draft.url }]
    case 'video note':
      return ['sendPtv', { video: draft.url }]
    case 'place': {
      const { latitude, longitude, name } = draft
      return ['sendLocation', { latitude, longitude, name, address: 'Street 1' }]
    }
    case 'card': {
      const card = { fullName: draft.name, phoneNumber: `+${draft.number}`, wuid: draft.number }
      return ['sendContact', { contact: [{ ...card, organization: 'Shop', email: 'ana@example.com' }] }]
    }
    case 'reaction':
      return ['sendReaction', { key: draft.to, reaction: draft.emoji }]
    case 'poll':
      return ['sendPoll', { name: draft.question, selectableCount: draft.options.length, values: draft.options }]
    case 'list': {
      const rows = draft.rows.map(({ id, title }) => ({ title, rowId: id }))
      const { title, text: description, button: buttonText } = draft
      return ['sendList', { title, description, buttonText, footerText: 'End', sections: [{ title: 'All', rows }] }]
    }
    case 'buttons': {
      const buttons = draft.buttons.map(({ id, title }) => ({ type: 'reply', displayText: title, id }))
      return ['sendButtons', { title: draft.title, description: draft.text, footer: 'End', buttons }]
    }
  }
}
