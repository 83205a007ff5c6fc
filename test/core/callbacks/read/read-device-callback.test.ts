import { describe, expect, it } from 'vitest'
import { readDeviceCallback } from '../../../../src/core/callbacks/read/read-device-callback.js'
import { readInboundFile } from '../../../../src/model/messages/describe-inbound.js'

const JID = '5511888887777@s.whatsapp.net'
const OURS = '019A1B2C3D4E7F008A1B2C3D4E5F6071'

function event(message: object, more: object = {}, key: object = {}) {
  return {
    type: 'message',
    key: { remoteJid: JID, fromMe: false, id: 'A', ...key },
    chat: { jid: JID, phone: '5511888887777', lid: '77@lid', name: null },
    sender: null,
    pushName: 'Ana',
    timestamp: 1_700_000_000,
    message,
    ...more,
  }
}

const read = (message: object) => readDeviceCallback([event(message)])[0]

describe('a callback of a linked device', () => {
  it('is a message of the person, with both addresses', () => {
    expect(read({ conversation: 'hi' })).toEqual({
      kind: 'message',
      from: { waId: '5511888887777', userId: '77@lid' },
      profileName: 'Ana',
      upstreamId: 'A',
      createdAt: new Date(1_700_000_000_000),
      message_type: 'text',
      text: 'hi',
      media_type: null,
      content: null,
      extras: null,
      awaitsMedia: false,
      contextUpstreamId: null,
      isSystem: false,
      device: {
        fromMe: false,
        keepsArchived: false,
        network: { remoteJid: JID, pushName: 'Ana', message: { conversation: 'hi' } },
      },
      addressChange: null,
    })
  })

  it('belongs to the group it was written in', () => {
    const chat = { jid: '1@g.us', phone: null, lid: null, name: 'Family' }
    const key = { remoteJid: '1@g.us', participant: '77@lid' }
    expect(readDeviceCallback([event({ conversation: 'hi' }, { chat }, key)])[0]).toMatchObject({
      from: { waId: null, userId: '1@g.us' },
      profileName: 'Family',
      device: { network: { remoteJid: '1@g.us', participant: '77@lid', pushName: 'Ana' } },
    })
  })

  it('may be typed on the phone', () => {
    expect(readDeviceCallback([event({ conversation: 'hi' }, {}, { fromMe: true })])[0]).toMatchObject({
      from: { waId: '5511888887777' },
      profileName: null,
      device: { fromMe: true, network: { fromPhone: true } },
    })
  })

  it.each([
    [{ extendedTextMessage: { text: 'yes', contextInfo: { stanzaId: 'Q' } } }, { text: 'yes', contextUpstreamId: 'Q' }],
    [
      { viewOnceMessageV2: { message: { imageMessage: { mimetype: 'image/jpeg', caption: 'look' } } } },
      { message_type: 'image', text: 'look', media_type: 'image', awaitsMedia: true, content: { id: 'A' } },
    ],
    [{ videoMessage: {} }, { message_type: 'video', media_type: 'video', awaitsMedia: true }],
    [{ ptvMessage: {} }, { message_type: 'video', awaitsMedia: true }],
    [{ audioMessage: { ptt: true } }, { message_type: 'audio', content: { id: 'A', voice: true } }],
    [
      { documentWithCaptionMessage: { message: { documentMessage: { fileName: 'a.pdf', caption: 'c' } } } },
      { message_type: 'document', text: 'c', content: { id: 'A', filename: 'a.pdf', caption: 'c' } },
    ],
    [{ stickerMessage: {} }, { message_type: 'sticker', text: '[sticker]', media_type: 'image', awaitsMedia: true }],
    [
      { locationMessage: { degreesLatitude: 1.5, degreesLongitude: 2, name: 'Here' } },
      { message_type: 'location', text: 'Here (1.5, 2)' },
    ],
    [
      { contactMessage: { displayName: 'Bia', vcard: 'BEGIN:VCARD\nTEL;type=CELL;waid=551190:+55 11 90\nEND:VCARD' } },
      {
        message_type: 'contacts',
        text: 'Bia',
        content: [{ name: { formatted_name: 'Bia' }, phones: [{ phone: '+55 11 90', wa_id: '551190', type: 'CELL' }] }],
      },
    ],
    [
      { contactsArrayMessage: { contacts: [{ vcard: 'FN:Bia' }, { displayName: 'Caio' }] } },
      { message_type: 'contacts', text: 'Bia, Caio' },
    ],
    [
      { pollCreationMessageV3: { name: 'Pizza?', options: [{ optionName: 'yes' }], selectableOptionsCount: 1 } },
      { message_type: 'poll', text: 'Pizza?', content: { name: 'Pizza?', options: ['yes'], selectable_count: 1 } },
    ],
    [
      { buttonsResponseMessage: { selectedButtonId: 'b', selectedDisplayText: 'Yes' } },
      { message_type: 'interactive', text: 'Yes', media_type: 'interactive' },
    ],
    [
      { listResponseMessage: { title: 'Row', singleSelectReply: { selectedRowId: 'r' } } },
      { message_type: 'interactive', text: 'Row', content: { list_reply: { id: 'r', title: 'Row' } } },
    ],
    [
      { albumMessage: {} },
      { message_type: 'unsupported', text: '[unsupported]', content: null, extras: { raw_type: 'albumMessage' } },
    ],
    [{ stickerMessage: { isAnimated: true } }, { content: { id: 'A', animated: true } }],
    [{ videoMessage: { gifPlayback: true } }, { content: { id: 'A', animated: true } }],
    [
      { extendedTextMessage: { text: 'x', contextInfo: { isForwarded: true, forwardingScore: 1 } } },
      { extras: { forwarded: true } },
    ],
    [
      { imageMessage: { contextInfo: { isForwarded: true, forwardingScore: 127 } } },
      { extras: { forwarded: true, frequently_forwarded: true } },
    ],
    [
      {
        extendedTextMessage: {
          text: 'x',
          contextInfo: { externalAdReply: { title: 'Mugs', sourceType: 'ad', sourceId: '7', ctwaClid: 'click' } },
        },
      },
      { extras: { referral: { headline: 'Mugs', source_type: 'ad', source_id: '7', ctwa_clid: 'click' } } },
    ],
    [{ extendedTextMessage: { text: 'x', contextInfo: { externalAdReply: { title: 'A link' } } } }, { extras: null }],
  ])('%j', (message, expected) => {
    expect(read(message)).toMatchObject({ kind: 'message', ...expected })
  })

  it('contains the data to fetch its file', () => {
    const item = read({ audioMessage: { mimetype: 'audio/ogg; codecs=opus', ptt: true } })
    expect(item?.kind === 'message' && readInboundFile('audio', item.content)).toEqual({
      mediaId: 'A',
      mimeType: 'audio/ogg',
      filename: null,
      isVoiceNote: true,
    })
  })

  it('may refer to another message', () => {
    expect(read({ reactionMessage: { key: { id: 'B' }, text: '👍' } })).toMatchObject({
      kind: 'reaction',
      text: '👍',
      replyToUpstreamId: 'B',
    })
    expect(read({ protocolMessage: { type: 0, key: { id: 'B' } } })).toMatchObject({ kind: 'revoke' })
    const edited = { protocolMessage: { type: 14, key: { id: 'B' }, editedMessage: { conversation: 'better' } } }
    expect(read({ editedMessage: { message: edited } })).toMatchObject({
      kind: 'edit',
      text: 'better',
      replyToUpstreamId: 'B',
    })
  })

  it('with our id is a status', () => {
    const status = event({}, { type: 'status', status: 'failed', code: '463' }, { fromMe: true, id: OURS })
    expect(readDeviceCallback([status])).toMatchObject([
      {
        kind: 'status',
        upstreamId: OURS,
        messageId: '019a1b2c-3d4e-7f00-8a1b-2c3d4e5f6071',
        status: 'failed',
        error: { code: 463 },
        recipient: { waId: '5511888887777', userId: '77@lid' },
      },
    ])
  })

  it('with a message of ours is a status, and a message if the id is unknown', () => {
    const [item] = readDeviceCallback([event({ conversation: 'hi' }, {}, { fromMe: true, id: OURS })])
    expect(item).toMatchObject({
      kind: 'status',
      status: 'sent',
      upstreamId: OURS,
      messageId: '019a1b2c-3d4e-7f00-8a1b-2c3d4e5f6071',
      typed: { kind: 'message', upstreamId: OURS, text: 'hi', device: { fromMe: true } },
    })
    expect(readDeviceCallback([event({ conversation: 'hi' }, {}, { id: OURS })])[0]).toMatchObject({ kind: 'message' })
  })

  it('is ignored if it is not an event', () => {
    const nobody = { chat: { jid: JID, phone: null, lid: null, name: null } }
    const others = [{}, { type: 'message' }, { ...event({}), key: null }, event({ conversation: 'x' }, nobody)]
    expect(readDeviceCallback(others)).toEqual([])
  })
})

describe('what only linked devices get', () => {
  it.each<[object, object]>([
    [
      {
        orderMessage: {
          ...{ orderId: '1', itemCount: 2, orderTitle: 'Mugs', message: 'By Friday' },
          ...{ totalAmount1000: 15_980, totalCurrencyCode: 'BRL' },
        },
      },
      {
        ...{ message_type: 'order', text: 'By Friday\n2 × Mugs (15.98 BRL)' },
        content: { title: 'Mugs', item_count: 2, total: 15.98, currency: 'BRL' },
      },
    ],
    [
      {
        productMessage: {
          product: { productId: '9', retailerId: 'mug-1', title: 'Mug', priceAmount1000: 7_990, currencyCode: 'BRL' },
          businessOwnerJid: '5511999990000@s.whatsapp.net',
        },
      },
      { message_type: 'product', text: 'Mug (7.99 BRL)', content: { product_id: 'mug-1', price: 7.99 } },
    ],
    [
      { eventMessage: { name: 'Tasting', startTime: 1_800_000_000, location: { name: 'Shop', degreesLatitude: 1 } } },
      {
        ...{ message_type: 'event', text: 'Tasting\n2027-01-15T08:00:00.000Z' },
        content: { name: 'Tasting', location: { name: 'Shop', latitude: 1, longitude: null }, is_canceled: false },
      },
    ],
    [
      { groupInviteMessage: { groupJid: '1@g.us', groupName: 'Choir', inviteCode: 'abc', caption: 'Join us' } },
      {
        ...{ message_type: 'group_invite', text: 'Choir\nJoin us' },
        content: { group_id: '1@g.us', group_name: 'Choir', code: 'abc', caption: 'Join us', expires_at: null },
      },
    ],
    [{ eventMessage: { startTime: 'soon', location: 5 } }, { text: '[event]', content: { location: null } }],
    [{ orderMessage: { itemCount: 'many' } }, { text: '[order]', content: { item_count: null, total: null } }],
  ])('is shown as what it is: %j', (message, expected) => {
    expect(read(message)).toMatchObject(expected)
  })

  it('names who of a group wrote by number, if it is known, beside the hidden id', () => {
    const chat = { jid: '1@g.us', phone: null, lid: null, name: 'Family' }
    const key = { remoteJid: '1@g.us', participant: '77@lid' }
    const sender = { phone: '5511888887777', lid: '77@lid' }
    expect(readDeviceCallback([event({ conversation: 'hi' }, { chat, sender }, key)])[0]).toMatchObject({
      device: { network: { participant: '77@lid', participantAlt: JID } },
    })
  })
})
