import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { receive, receiveMessages, textMessage } from '../../../support/callbacks.js'
import { schemaErrors } from '../../../support/message-schema.js'
import { contactRow } from '../../../support/rows/contacts.js'
import { FILES, startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)

type FileKind = keyof typeof FILES

/** One message: the request, the body to the upstream, and the message in the conversation. */
interface Case {
  name: string
  /** The file at the URL that `given` receives. */
  file?: FileKind
  given: (url: string) => Record<string, unknown>
  /** The payload, with the upstream's id of the file. */
  wire: (mediaId: string) => Record<string, unknown>
  message: string
  mediaType: string | null
  /** The content that is shown. */
  content: object | null
  mimeType?: string
  /** The warnings about ignored fields. */
  warnings?: string[]
}

const BUTTONS = [
  { id: 'yes', title: 'Sim' },
  { id: 'no', title: 'Não' },
]
/** What is not known of a sent card. */
const NO_CARD = {
  emails: [],
  urls: [],
  addresses: [],
  organization: { company: null, department: null, title: null },
  birthday: null,
  vcard: null,
}
const REPLIES = BUTTONS.map((reply) => ({ type: 'reply', reply }))

function withHeader(file: FileKind, type: 'image' | 'video' | 'document', mimeType: string, filename?: string): Case {
  return {
    name: `buttons below ${type} (${file})`,
    file,
    given: (url) => ({
      message_type: 'interactive',
      interactive: { type: 'button', body: 'Pay now?', buttons: BUTTONS, header_media: { type, url, filename } },
    }),
    wire: (id) => ({
      type: 'interactive',
      interactive: {
        type: 'button',
        header: { type, [type]: filename === undefined ? { id } : { id, filename } },
        body: { text: 'Pay now?' },
        action: { buttons: REPLIES },
      },
    }),
    message: 'Pay now?',
    mediaType: 'interactive',
    content: {
      type: 'buttons',
      header: null,
      header_media: { type, filename: filename ?? null, mime_type: mimeType },
      body: 'Pay now?',
      footer: null,
      buttons: BUTTONS,
    },
    mimeType,
  }
}

function captioned(file: FileKind, type: 'image' | 'video', mimeType: string, caption?: string): Case {
  return {
    name: `${type} (${file}) ${caption === undefined ? 'without' : 'with'} caption`,
    file,
    given: (media_url) => ({ message_type: type, media_url, caption }),
    wire: (id) => ({ type, [type]: caption === undefined ? { id } : { id, caption } }),
    message: caption ?? '',
    mediaType: type,
    content: {
      type,
      caption: caption ?? null,
      mime_type: mimeType,
      ...(type === 'video' && { animated: false }),
    },
    mimeType,
  }
}

function audio(file: FileKind, mimeType: string): Case {
  return {
    name: `audio (${file}), which has no caption`,
    file,
    given: (media_url) => ({ message_type: 'audio', media_url, caption: 'not shown' }),
    wire: (id) => ({ type: 'audio', audio: { id } }),
    message: '',
    mediaType: 'audio',
    content: { type: 'audio', voice: false, mime_type: mimeType },
    mimeType,
    warnings: ['The field caption is not a field of message_type audio and was ignored.'],
  }
}

const CASES: Case[] = [
  {
    name: 'text',
    given: () => ({ message_type: 'text', text: 'Olá 👋\nAté já' }),
    wire: () => ({ type: 'text', text: { body: 'Olá 👋\nAté já' } }),
    message: 'Olá 👋\nAté já',
    mediaType: null,
    content: null,
  },
  captioned('jpeg', 'image', 'image/jpeg', 'Our shop'),
  captioned('png', 'image', 'image/png'),
  captioned('mp4', 'video', 'video/mp4', 'A tour 🎬'),
  captioned('mp4', 'video', 'video/mp4'),
  audio('mp3', 'audio/mpeg'),
  audio('aac', 'audio/aac'),
  audio('ogg', 'audio/ogg'),
  {
    name: 'document with filename and caption',
    file: 'pdf',
    given: (media_url) => ({ message_type: 'document', media_url, filename: 'Preços.pdf', caption: 'As agreed' }),
    wire: (id) => ({ type: 'document', document: { id, caption: 'As agreed', filename: 'Preços.pdf' } }),
    message: 'As agreed',
    mediaType: 'document',
    content: { type: 'document', caption: 'As agreed', filename: 'Preços.pdf', mime_type: 'application/pdf' },
    mimeType: 'application/pdf',
  },
  {
    name: 'document with nulls',
    file: 'docx',
    given: (media_url) => ({ message_type: 'document', media_url, filename: null, caption: null }),
    wire: (id) => ({ type: 'document', document: { id, filename: 'document.docx' } }),
    message: '',
    mediaType: 'document',
    content: {
      type: 'document',
      caption: null,
      filename: 'document.docx',
      mime_type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    },
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  },
  {
    name: 'location with name and address',
    given: () => ({
      message_type: 'location',
      location: { latitude: -23.5613, longitude: -46.6565, name: 'MASP', address: 'Av. Paulista, 1578' },
    }),
    wire: () => ({
      type: 'location',
      location: { latitude: -23.5613, longitude: -46.6565, name: 'MASP', address: 'Av. Paulista, 1578' },
    }),
    message: 'MASP, Av. Paulista, 1578 (-23.5613, -46.6565)',
    mediaType: null,
    content: {
      type: 'location',
      latitude: -23.5613,
      longitude: -46.6565,
      name: 'MASP',
      address: 'Av. Paulista, 1578',
      url: null,
    },
  },
  {
    name: 'location of coordinates, which may be 0',
    given: () => ({ message_type: 'location', location: { latitude: 0, longitude: 0, name: null, address: '' } }),
    wire: () => ({ type: 'location', location: { latitude: 0, longitude: 0 } }),
    message: '0, 0',
    mediaType: null,
    content: { type: 'location', latitude: 0, longitude: 0, name: null, address: null, url: null },
  },
  {
    name: 'contacts',
    given: () => ({
      message_type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Ana Lima', first_name: 'Ana', last_name: 'Lima' },
          phones: [{ phone: '+5511987654321', type: 'CELL' }, { phone: '+551133334444' }],
        },
        { name: { formatted_name: 'Front desk' }, phones: [{ phone: '100', type: null }] },
      ],
    }),
    wire: () => ({
      type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Ana Lima', first_name: 'Ana', last_name: 'Lima' },
          phones: [{ phone: '+5511987654321', type: 'CELL' }, { phone: '+551133334444' }],
        },
        { name: { formatted_name: 'Front desk', first_name: 'Front desk' }, phones: [{ phone: '100' }] },
      ],
    }),
    message: 'Ana Lima, Front desk',
    mediaType: null,
    content: {
      type: 'contacts',
      origin: null,
      contacts: [
        {
          ...NO_CARD,
          name: 'Ana Lima',
          first_name: 'Ana',
          last_name: 'Lima',
          phones: [
            { phone: '+5511987654321', type: 'CELL', wa_id: null },
            { phone: '+551133334444', type: null, wa_id: null },
          ],
        },
        {
          ...NO_CARD,
          name: 'Front desk',
          first_name: 'Front desk',
          last_name: null,
          phones: [{ phone: '100', type: null, wa_id: null }],
        },
      ],
    },
  },
  {
    name: 'buttons below a text, above a footer',
    given: () => ({
      message_type: 'interactive',
      interactive: { type: 'button', header: 'Order 1001', body: 'Pay now?', footer: 'Parley', buttons: BUTTONS },
    }),
    wire: () => ({
      type: 'interactive',
      interactive: {
        type: 'button',
        header: { type: 'text', text: 'Order 1001' },
        body: { text: 'Pay now?' },
        footer: { text: 'Parley' },
        action: { buttons: REPLIES },
      },
    }),
    message: 'Pay now?',
    mediaType: 'interactive',
    content: { type: 'buttons', header: 'Order 1001', body: 'Pay now?', footer: 'Parley', buttons: BUTTONS },
  },
  {
    name: 'buttons alone',
    given: () => ({
      message_type: 'interactive',
      interactive: { type: 'button', header: null, header_media: null, body: 'Pay?', footer: '', buttons: BUTTONS },
    }),
    wire: () => ({
      type: 'interactive',
      interactive: { type: 'button', body: { text: 'Pay?' }, action: { buttons: REPLIES } },
    }),
    message: 'Pay?',
    mediaType: 'interactive',
    content: { type: 'buttons', header: null, body: 'Pay?', footer: null, buttons: BUTTONS },
  },
  withHeader('png', 'image', 'image/png'),
  withHeader('mp4', 'video', 'video/mp4'),
  withHeader('pdf', 'document', 'application/pdf', 'Invoice 7.pdf'),
  {
    name: 'list of sections',
    given: () => ({
      message_type: 'interactive',
      interactive: {
        type: 'list',
        header: 'Menu',
        body: 'What may it be?',
        footer: 'Open till 22:00',
        button: 'Choose',
        sections: [
          { title: 'Coffee', rows: [{ id: 'c1', title: 'Espresso', description: 'Short' }] },
          {
            title: 'Tea',
            rows: [
              { id: 't1', title: 'Mate' },
              { id: 't2', title: 'Sencha', description: null },
            ],
          },
        ],
      },
    }),
    wire: () => ({
      type: 'interactive',
      interactive: {
        type: 'list',
        header: { type: 'text', text: 'Menu' },
        body: { text: 'What may it be?' },
        footer: { text: 'Open till 22:00' },
        action: {
          button: 'Choose',
          sections: [
            { title: 'Coffee', rows: [{ id: 'c1', title: 'Espresso', description: 'Short' }] },
            {
              title: 'Tea',
              rows: [
                { id: 't1', title: 'Mate' },
                { id: 't2', title: 'Sencha' },
              ],
            },
          ],
        },
      },
    }),
    message: 'What may it be?',
    mediaType: 'interactive',
    content: {
      type: 'list',
      header: 'Menu',
      body: 'What may it be?',
      footer: 'Open till 22:00',
      button: 'Choose',
      sections: [
        { title: 'Coffee', rows: [{ id: 'c1', title: 'Espresso', description: 'Short' }] },
        {
          title: 'Tea',
          rows: [
            { id: 't1', title: 'Mate', description: null },
            { id: 't2', title: 'Sencha', description: null },
          ],
        },
      ],
    },
  },
  {
    name: 'list of one section, which needs no title',
    given: () => ({
      message_type: 'interactive',
      interactive: { type: 'list', body: 'Size?', button: 'Sizes', sections: [{ rows: [{ id: 's', title: 'S' }] }] },
    }),
    wire: () => ({
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'Size?' },
        action: { button: 'Sizes', sections: [{ rows: [{ id: 's', title: 'S' }] }] },
      },
    }),
    message: 'Size?',
    mediaType: 'interactive',
    content: {
      type: 'list',
      header: null,
      body: 'Size?',
      footer: null,
      button: 'Sizes',
      sections: [{ title: null, rows: [{ id: 's', title: 'S', description: null }] }],
    },
  },
]

/** Exactly the fields of a message in a conversation. */
const SHOWN = {
  sender_type: 'bot-chat',
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  message_status: 'sent',
  assignee: null,
  voice_note_transcription: null,
  reactions: [],
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  error: null,
  outcome: null,
}

describe.each(CASES)('POST /send-chat with $name', (sent) => {
  const { file, given, wire, message, mediaType, mimeType, content, warnings } = sent

  it.each([false, true])('responds, sends, shows and raises events; as a reply: %s', async (isReply) => {
    const { world, organization, newContact, fileUrl, send, arrived, shown, eventsAbout } = house
    const digits = await newContact()
    const question = textMessage(digits, '?')
    if (isReply) await receiveMessages(world, organization, question)
    const body: Record<string, unknown> = { phone_number: `+${digits}`, ...given(file ? fileUrl(file) : '') }
    const answer = await send(isReply ? { ...body, context_message_id: question.id } : body)

    const [{ id, payload }, ...others] = await arrived(digits)
    expect(others).toEqual([])
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        message: expect.stringMatching(/./),
        data: {
          message_id: id,
          recipient: digits,
          message_type: body.message_type,
          organization: organization.name,
          meta_response: {
            messaging_product: 'whatsapp',
            contacts: [{ input: digits, wa_id: digits }],
            messages: [{ id }],
          },
        },
        ...(warnings && { warnings }),
      },
    ])

    const messages = await shown(digits)
    const own = messages.at(-1)
    expect(messages).toHaveLength(isReply ? 2 : 1)
    expect(own).toEqual({
      ...SHOWN,
      message,
      media_type: mediaType,
      media_url: file ? expect.stringContaining(`${world.app.url}/media/`) : null,
      content,
      message_id: id,
      message_type: body.message_type,
      context_message_id: isReply ? question.id : null,
      business_number: { phone_number_id: organization.phoneNumberId, phone_number: null },
    })

    const mediaId = file ? await expectHandedOver(file, mimeType ?? '', own.media_url, own.created_at) : ''
    expect(payload).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: digits,
      ...(isReply ? { context: { message_id: question.id } } : {}),
      biz_opaque_callback_data: own.id,
      ...wire(mediaId),
    })
    expect(schemaErrors(payload)).toEqual([])

    const told = (await eventsAbout(digits)).filter(({ type }) => type.startsWith('message.'))
    expect(told.map(({ type }) => type)).toEqual(isReply ? ['message.received', 'message.sent'] : ['message.sent'])
    expect(told.at(-1)?.data.message).toMatchObject({
      id: own.id,
      upstream_id: id,
      text: message,
      media_type: mediaType,
      media_id: file ? own.id : null,
      message_type: body.message_type,
      context_upstream_id: isReply ? question.id : null,
      status: 'sent',
    })
  })
})

/** Checks that the file is the last upload, and stored here with a link for a year; resolves to its upstream id. */
async function expectHandedOver(
  file: FileKind,
  mimeType: string,
  mediaUrl: string,
  createdAt: string,
): Promise<string> {
  const { world, organization } = house
  const bytes = FILES[file]()
  const { media } = (await world.sim('GET', `/media?phone_number_id=${organization.phoneNumberId}`)).body
  expect(media.at(-1)).toMatchObject({
    mime_type: mimeType,
    file_size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const stored = await fetch(mediaUrl)
  expect([stored.status, stored.headers.get('content-type')]).toEqual([200, mimeType])
  expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
  const [year, ...rest] = createdAt.split('-')
  const aYearOn = new Date([Number(year) + 1, ...rest].join('-'))
  expect(new URL(mediaUrl).searchParams.get('expires')).toBe(String(Math.floor(aYearOn.getTime() / 1_000)))
  return media.at(-1).id
}

describe('POST /send-chat with a reaction', () => {
  it.each([
    ['👍 when none is given', undefined, '👍'],
    ['👍 when null is given', null, '👍'],
    ['its own emoji', '🙏🏽', '🙏🏽'],
    ['an empty emoji, which removes it', '', ''],
  ])('accepts %s', async (_name, given, emoji) => {
    const { world, organization, newContact, send, arrived, shown, eventsAbout } = house
    const digits = await newContact()
    const question = textMessage(digits, '?')
    await receiveMessages(world, organization, question)
    const reaction = { message_id: question.id, emoji: given }
    const answer = await send({ phone_number: digits, message_type: 'reaction', reaction })

    const [{ id, payload }] = await arrived(digits)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        message: expect.stringMatching(/./),
        data: {
          message_id: id,
          recipient: digits,
          message_type: 'reaction',
          organization: organization.name,
          meta_response: expect.objectContaining({ messages: [{ id }] }),
        },
      },
    ])
    expect(payload).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: digits,
      biz_opaque_callback_data: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'reaction',
      reaction: { message_id: question.id, emoji },
    })
    expect(schemaErrors(payload)).toEqual([])

    const messages = await shown(digits)
    expect(messages).toHaveLength(1)
    const reactions = [{ emoji, sender_type: 'bot-chat', created_at: SHOWN.created_at }]
    expect(messages[0].reactions).toEqual(emoji === '' ? [] : reactions)

    const told = (await eventsAbout(digits)).filter(({ type }) => type.startsWith('message.'))
    expect(told.map(({ type }) => type)).toEqual(['message.received', 'message.reaction'])
    expect(told[1]?.data.message).toMatchObject({
      id: payload.biz_opaque_callback_data,
      upstream_id: id,
      text: emoji,
      message_type: 'reaction',
      context_upstream_id: question.id,
    })
  })
})

describe('message.sent', () => {
  it('is raised once for each, even if callbacks are repeated', async () => {
    const { world, newContact, fileUrl, sent, eventsAbout } = house
    const digits = await newContact()
    await world.sim('POST', '/settings', { statuses: true, duplicate: 1 })
    const ids = await Promise.all(
      CASES.map(({ file, given }) => sent({ phone_number: digits, ...given(file ? fileUrl(file) : '') })),
    )
    await world.settle()
    await world.sim('POST', '/settings', { statuses: false, duplicate: 0 })
    const told = (await eventsAbout(digits)).filter(({ type }) => type.startsWith('message.'))
    for (const type of ['message.sent', 'message.delivered', 'message.read']) {
      const about = told.filter((event) => event.type === type).map(({ data }) => data.message.upstream_id)
      expect(about.toSorted(), type).toEqual(ids.toSorted())
    }
    expect(told).toHaveLength(3 * ids.length)
  })
})

describe('a person without a phone number', () => {
  it('is reached by the user id, with messages of every type', async () => {
    const { world, organization, fileUrl, sent } = house
    const userId = 'BR.1234567890'
    const question = textMessage('', '?', { from: undefined, from_user_id: userId })
    await receive(world, organization, { contacts: [{ user_id: userId }], messages: [question] })
    const where = { organization_id: organization.id, phone_number: null }
    const { chat_id: phone_number } = await contactRow(world, where)
    const reaction = { message_type: 'reaction', reaction: { message_id: question.id } }
    const bodies = [...CASES.map(({ file, given }) => given(file ? fileUrl(file) : '')), reaction]
    for (const body of bodies) await sent({ phone_number, ...body })
    const { messages } = (await world.sim('GET', `/messages?to=${userId}`)).body
    expect(messages.map(({ type }: { type: string }) => type)).toEqual(bodies.map((body) => body.message_type))
    for (const { payload } of messages) {
      expect(payload).toMatchObject({ recipient: userId })
      expect(payload).not.toHaveProperty('to')
      // The published schema has phone numbers only.
      const { recipient: to, ...rest } = payload
      expect(schemaErrors({ ...rest, to })).toEqual([])
    }
  })
})

describe('the check against the published schema', () => {
  const envelope = { messaging_product: 'whatsapp', recipient_type: 'individual', to: '16505550001' }

  it.each([
    ['no recipient', { ...envelope, to: undefined, type: 'text', text: { body: 'x' } }],
    ['an unknown field', { ...envelope, type: 'text', text: { body: 'x' }, more: 1 }],
    ['a payload of another type', { ...envelope, type: 'text', image: { id: '1' } }],
    ['coordinates as text', { ...envelope, type: 'location', location: { latitude: '1', longitude: '2' } }],
    ['a file without id', { ...envelope, type: 'image', image: { caption: 'x' } }],
    ['null in place of nothing', { ...envelope, type: 'reaction', reaction: { message_id: 'x', emoji: null } }],
  ])('refuses %s', (_name, message) => {
    expect(schemaErrors(JSON.parse(JSON.stringify(message)))).not.toEqual([])
  })
})
