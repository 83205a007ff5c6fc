import { type Account, ask, type Client, type Draft, type MessageKey, Shown, toJid } from './client.js'

/**
 * A node of an automation tool: flat bodies of version 2, the header `apikey`, a trailing slash, many empty fields. It
 * shows the whole body of an error response.
 */
export function automationNode({ url, key }: Account): Client {
  const request = async (method: string, path: string, body?: object) => {
    const headers = { apikey: key, ...(body && { 'content-type': 'application/json' }) }
    const reply = await ask(`${url}${path}`, method, headers, body)
    if (reply.status < 300) return reply.body
    throw new Shown(reply.status, `${reply.status} - ${JSON.stringify(reply.body)}`)
  }
  return {
    create: async (instanceName, hookUrl) => {
      const made = await request('POST', '/instance/create/', {
        ...{ instanceName, integration: 'SANDBOX', qrcode: true, rejectCall: false, msgCall: '', groupsIgnore: false },
        ...{ proxyHost: '', proxyPort: '1234', proxyProtocol: '', proxyUsername: '', proxyPassword: '' },
        webhook: { url: hookUrl, byEvents: false, base64: true, events: [] },
        rabbitmq: { enabled: false, events: [] },
        ...{ chatwootAccountId: '', chatwootToken: '', chatwootUrl: '', chatwootSignMsg: false },
        ...{ chatwootDaysLimitImportMessages: 0, chatwootOrganization: '', chatwootLogo: '' },
      })
      return { token: made.hash, qrCode: made.qrcode.base64 }
    },
    connect: async (instance) => {
      const { base64, instance: connected } = await request('GET', `/instance/connect/${instance}/`)
      return base64 ?? connected.state
    },
    state: async (instance) => (await request('GET', `/instance/connectionState/${instance}/`)).instance.state,
    instances: async () => {
      const rows: { name: string; connectionStatus: string }[] = await request('GET', '/instance/fetchInstances/')
      return Object.fromEntries(rows.map((row) => [row.name, row.connectionStatus]))
    },
    restart: async (instance) => {
      const { base64, instance: connected } = await request('POST', `/instance/restart/${instance}/`)
      return base64 ?? connected.state
    },
    logout: async (instance) => (await request('DELETE', `/instance/logout/${instance}/`)).response.message,
    remove: async (instance) => (await request('DELETE', `/instance/delete/${instance}/`)).response.message,
    setWebhook: (instance, hookUrl, events) =>
      request('POST', `/webhook/set/${instance}/`, {
        webhook: { enabled: true, url: hookUrl, webhookByEvents: false, webhookBase64: true, events },
      }),
    webhook: async (instance) => {
      const row = await request('GET', `/webhook/find/${instance}/`)
      return { url: row.url, enabled: row.enabled, base64: row.webhookBase64 }
    },
    send: async (instance, number, draft) => {
      const [verb, fields] = bodyOf(draft)
      const sent = await request('POST', `/message/${verb}/${instance}/`, { number, ...fields })
      return sent.key
    },
    texts: async (instance, number) => {
      const where = { key: { remoteJid: toJid(number) } }
      const { messages } = await request('POST', `/chat/findMessages/${instance}/`, { where, page: 1, offset: 10 })
      return messages.records.map(({ message }: { message: { conversation: string } }) => message.conversation)
    },
    chats: async (instance) => {
      const rows: MessageKey[] = await request('POST', `/chat/findChats/${instance}/`, {})
      return rows.map(({ remoteJid }) => remoteJid)
    },
    names: async (instance, number) => {
      const body = { where: { id: null, remoteJid: toJid(number) } }
      const rows: { pushName: string }[] = await request('POST', `/chat/findContacts/${instance}/`, body)
      return rows.map(({ pushName }) => pushName)
    },
    reachable: async (instance, numbers) => {
      const rows: { exists: boolean; number: string }[] = await request('POST', `/chat/whatsappNumbers/${instance}/`, {
        numbers,
      })
      return rows.filter(({ exists }) => exists).map(({ number }) => number)
    },
    markRead: async (instance, { id, remoteJid, fromMe }) =>
      (await request('POST', `/chat/markMessageAsRead/${instance}/`, { readMessages: [{ remoteJid, fromMe, id }] }))
        .read,
    showTyping: async (instance, number) =>
      (await request('POST', `/chat/sendPresence/${instance}/`, { number, presence: 'composing', delay: 1 })).presence,
    file: async (instance, { id }) => {
      const body = { message: { key: { id } }, convertToMp4: false }
      const { base64 } = await request('POST', `/chat/getBase64FromMediaMessage/${instance}/`, body)
      return Buffer.from(base64, 'base64')
    },
    edit: async (instance, { id, remoteJid }, text) => {
      const body = { number: remoteJid, key: { remoteJid, fromMe: true, id }, text }
      return (await request('POST', `/chat/updateMessage/${instance}/`, body)).message.protocolMessage.key.id
    },
    takeBack: async (instance, { id, remoteJid, fromMe }) => {
      const body = { id, fromMe, remoteJid }
      return (await request('DELETE', `/chat/deleteMessageForEveryone/${instance}/`, body)).message.protocolMessage.key
        .id
    },
    groups: (instance) => request('GET', `/group/fetchAllGroups/${instance}/?getParticipants=false`),
  }
}

function bodyOf(draft: Draft): [verb: string, fields: object] {
  switch (draft.kind) {
    case 'text':
      return [
        'sendText',
        {
          ...{ text: draft.text, mentionsEveryOne: false },
          ...(draft.answers && { quoted: { key: { id: draft.answers.id } } }),
          ...(draft.mentions && { mentioned: draft.mentions.map(toJid) }),
        },
      ]
    case 'image':
      return ['sendMedia', { ...media(draft.url, 'image', 'image/png'), caption: draft.caption, fileName: 'image.png' }]
    case 'document': {
      const address = `data:application/pdf;base64,${draft.bytes.toString('base64')}`
      return ['sendMedia', { ...media(address, 'document', 'application/pdf'), caption: '', fileName: draft.filename }]
    }
    case 'voice':
      return ['sendWhatsAppAudio', { audio: draft.url, mimetype: 'audio/mp3', fileName: 'audio.mp3' }]
    case 'sticker':
      return ['sendSticker', { sticker: draft.url }]
    case 'video note':
      return ['sendPtv', { video: draft.url }]
    case 'place': {
      const { latitude, longitude, name } = draft
      return ['sendLocation', { name, address: '', latitude, longitude }]
    }
    case 'card':
      return ['sendContact', { contact: [{ fullName: draft.name, wuid: draft.number, phoneNumber: draft.number }] }]
    case 'reaction': {
      const { id, remoteJid, fromMe } = draft.to
      return ['sendReaction', { key: { remoteJid, fromMe, id }, reaction: draft.emoji }]
    }
    case 'poll':
      return ['sendPoll', { name: draft.question, selectableCount: 1, values: draft.options }]
    case 'list': {
      const rows = draft.rows.map(({ id, title }) => ({ title, description: ' ', rowId: id }))
      const { title, text: description, button: buttonText } = draft
      return ['sendList', { title, description, footerText: ' ', buttonText, sections: [{ title: 'All', rows }] }]
    }
    case 'buttons': {
      const buttons = draft.buttons.map(({ id, title }) => ({ type: 'reply', displayText: title, id }))
      return ['sendButtons', { title: draft.title, description: draft.text, buttons }]
    }
  }
}

const media = (address: string, mediatype: string, mimetype: string) => ({ media: address, mediatype, mimetype })
