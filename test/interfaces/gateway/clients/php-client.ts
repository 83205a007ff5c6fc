import { type Account, ask, type Client, type Draft, Shown, toJid } from './client.js'

/**
 * A PHP client of version 1: bodies in wrappers, `options`, PUT for changes, a Content-Type on every request, `[]` for
 * an empty body, DELETE with a body, fields in snake_case. It accepts responses of either version.
 */
export function phpClient({ url, key }: Account): Client {
  const request = async (method: string, path: string, data: object = []) => {
    const headers = { 'Content-Type': 'application/json', apiKey: key }
    const reply = await ask(`${url}${path}`, method, headers, method === 'GET' ? undefined : JSON.stringify(data))
    if (reply.status < 300) return reply.body
    const { message } = reply.body.response
    throw new Shown(reply.status, Array.isArray(message) ? implode(message) : message)
  }
  return {
    create: async (instanceName, hookUrl) => {
      const { hash, qrcode } = await request('POST', '/instance/create', {
        ...{ instanceName, token: '', qrcode: true, events: ['MESSAGES_UPSERT'], webhookByEvents: false },
        ...{
          webhook: hookUrl,
          webhook_base64: true,
          reject_call: true,
          msg_call: 'Write to us',
          integration: 'SANDBOX',
        },
      })
      return { token: hash.apikey ?? hash, qrCode: qrcode.base64 }
    },
    connect: async (instance) => {
      const { base64, instance: connected } = await request('GET', `/instance/connect/${instance}`)
      return base64 ?? connected.state
    },
    state: async (instance) => (await request('GET', `/instance/connectionState/${instance}`)).instance.state,
    instances: async () => {
      // biome-ignore lint/suspicious/noExplicitAny: rows of either version
      const rows: any[] = await request('GET', '/instance/fetchInstances')
      return Object.fromEntries(
        rows.map((row) => [row.instance?.instanceName ?? row.name, row.instance?.status ?? row.connectionStatus]),
      )
    },
    restart: async (instance) => (await request('PUT', `/instance/restart/${instance}`)).instance.state,
    logout: async (instance) => (await request('DELETE', `/instance/logout/${instance}`)).response.message,
    remove: async (instance) => (await request('DELETE', `/instance/delete/${instance}`)).response.message,
    setWebhook: async (instance, hookUrl, events) => {
      const body = { url: hookUrl, webhook_by_events: false, webhook_base64: true, events }
      return (await request('POST', `/webhook/set/${instance}`, body)).webhook.webhook
    },
    webhook: async (instance) => {
      const found = await request('GET', `/webhook/find/${instance}`)
      return { url: found.url, enabled: found.enabled, base64: found.webhook_base64 ?? found.webhookBase64 }
    },
    send: async (instance, number, draft) => {
      const [verb, message, options] = bodyOf(draft)
      const body = { number, options: { delay: 1, presence: 'composing', ...options }, ...message }
      return (await request('POST', `/message/${verb}/${instance}`, body)).key
    },
    texts: async (instance, number) => {
      const found = await request('POST', `/chat/findMessages/${instance}`, {
        where: { key: { remoteJid: toJid(number) } },
      })
      const records = found.messages?.records ?? found
      return records.map(({ message }: { message: { conversation: string } }) => message.conversation)
    },
    chats: async (instance) => {
      const rows: { remoteJid: string }[] = await request('GET', `/chat/findChats/${instance}`)
      return rows.map(({ remoteJid }) => remoteJid)
    },
    names: async (instance, number) => {
      const body = { where: { remoteJid: number } }
      const rows: { pushName: string }[] = await request('POST', `/chat/findContacts/${instance}`, body)
      return rows.map(({ pushName }) => pushName)
    },
    reachable: async (instance, numbers) => {
      const rows: { exists: boolean; number: string }[] = await request('POST', `/chat/whatsappNumbers/${instance}`, {
        numbers,
      })
      return rows.filter(({ exists }) => exists).map(({ number }) => number)
    },
    markRead: async (instance, key) =>
      (await request('PUT', `/chat/markMessageAsRead/${instance}`, { read_messages: [key] })).read,
    showTyping: async (instance, number) => {
      const body = { number, options: { delay: 1, presence: 'composing', number } }
      return (await request('POST', `/chat/sendPresence/${instance}`, body)).presence
    },
    file: async (instance, { id }) => {
      const body = { message: { key: { id } }, convertToMp4: false }
      const { base64 } = await request('POST', `/chat/getBase64FromMediaMessage/${instance}`, body)
      return Buffer.from(base64, 'base64')
    },
    edit: async (instance, key, text) => {
      const body = { number: key.remoteJid, text, key }
      return (await request('PUT', `/chat/updateMessage/${instance}`, body)).message.protocolMessage.key.id
    },
    takeBack: async (instance, key) =>
      (await request('DELETE', `/chat/deleteMessageForEveryone/${instance}`, key)).message.protocolMessage.key.id,
    groups: (instance) => request('GET', `/group/fetchAllGroups/${instance}?getParticipants=false`),
  }
}

/** All strings within a value, joined; other values as JSON. */
function implode(message: unknown[]): string {
  return message
    .flat()
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    .join(', ')
}

type Part = Record<string, unknown>

function bodyOf(draft: Draft): [verb: string, message: Part, options?: Part] {
  switch (draft.kind) {
    case 'text': {
      const options = {
        ...(draft.answers && { quoted: { key: draft.answers, message: { conversation: 'as it was' } } }),
        ...(draft.mentions && { mentions: { everyOne: false, mentioned: draft.mentions } }),
      }
      return ['sendText', { textMessage: { text: draft.text } }, options]
    }
    case 'image':
      return ['sendMedia', { mediaMessage: { mediatype: 'image', media: draft.url, caption: draft.caption } }]
    case 'document': {
      const document = { mediatype: 'document', fileName: draft.filename, media: draft.bytes.toString('base64') }
      return ['sendMedia', { mediaMessage: document }]
    }
    case 'voice':
      return ['sendWhatsAppAudio', { audioMessage: { audio: draft.url } }, { presence: 'recording', encoding: true }]
    case 'sticker':
      return ['sendSticker', { stickerMessage: { image: draft.url } }]
    case 'video note':
      return ['sendPtv', { ptvMessage: { video: draft.url } }]
    case 'place': {
      const { latitude, longitude, name } = draft
      return ['sendLocation', { locationMessage: { name, latitude, longitude } }]
    }
    case 'card': {
      const card = { fullName: draft.name, wuid: draft.number, phoneNumber: `+${draft.number}` }
      return ['sendContact', { contactMessage: [card] }]
    }
    case 'reaction':
      return ['sendReaction', { reactionMessage: { key: draft.to, reaction: draft.emoji } }]
    case 'poll':
      return ['sendPoll', { pollMessage: { name: draft.question, selectableCount: 1, values: draft.options } }]
    case 'list': {
      const rows = draft.rows.map(({ id, title }) => ({ title, description: '', rowId: id }))
      const { title, text: description, button: buttonText } = draft
      const list = { title, description, footerText: '', buttonText, sections: [{ title: 'All', rows }] }
      return ['sendList', { listMessage: list }]
    }
    case 'buttons': {
      const buttons = draft.buttons.map(({ id, title }) => ({ buttonText: title, buttonId: id }))
      return [
        'sendButtons',
        { buttonMessage: { title: draft.title, description: draft.text, footerText: '', buttons } },
      ]
    }
  }
}
