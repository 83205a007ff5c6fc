import { describe, expect, it } from 'vitest'
import { toNetworkContent } from '../../../../src/channels/linked-device/wire/to-network.js'
import { toVcard } from '../../../../src/model/contacts/vcard.js'
import type { ReadyContent } from '../../../../src/model/messages/content.js'

const file = { channelMediaId: 'm1' }
const ABOUT = { key: { remoteJid: '1@s.whatsapp.net', fromMe: false, id: 'A' }, message: {} }

const translate = (content: ReadyContent) =>
  toNetworkContent(content, ABOUT, async (id) => ({ source: { path: `/${id}` }, mimeType: 'a/b', filename: 'f.bin' }))

const upload = { url: '/m1' }

describe('a message for a linked device', () => {
  it.each<[ReadyContent, object]>([
    [
      { type: 'text', text: 'http://a.example', linkPreview: true, mentions: ['5511888887777'] },
      { text: 'http://a.example', linkPreview: null, mentions: ['5511888887777@s.whatsapp.net'] },
    ],
    [
      { type: 'image', file, caption: 'c', mentions: ['1@lid'] },
      { image: upload, mimetype: 'a/b', caption: 'c', mentions: ['1@lid'] },
    ],
    [
      { type: 'video', file, caption: null },
      { video: upload, mimetype: 'a/b' },
    ],
    [
      { type: 'video', file, caption: null, round: true },
      { video: upload, mimetype: 'a/b', ptv: true },
    ],
    [
      { type: 'audio', file },
      { audio: upload, mimetype: 'a/b' },
    ],
    [
      { type: 'audio', file, voice: true },
      { audio: upload, mimetype: 'audio/ogg; codecs=opus', ptt: true },
    ],
    [
      { type: 'sticker', file },
      { sticker: upload, mimetype: 'a/b' },
    ],
    [
      { type: 'document', file, caption: null, filename: null },
      { document: upload, mimetype: 'a/b', fileName: 'f.bin' },
    ],
    [
      { type: 'location', latitude: 1, longitude: 2, name: 'n', address: null },
      { location: { degreesLatitude: 1, degreesLongitude: 2, name: 'n' } },
    ],
    [{ type: 'reaction', emoji: '👍' }, { react: { key: ABOUT.key, text: '👍' } }],
    [
      { type: 'poll', name: 'q', options: ['a', 'b'], selectableCount: 1 },
      { poll: { name: 'q', values: ['a', 'b'], selectableCount: 1 } },
    ],
  ])('%j', async (content, expected) => {
    expect(await translate(content)).toEqual({ content: expected })
  })

  it('cannot be a template', async () => {
    const template = { type: 'raw_template', name: 't', language: 'en', components: [], text: '' } as const
    expect(await translate(template)).toHaveProperty('unsupported')
  })

  it('writes cards as vCard 3.0, with no character that could end a field', async () => {
    const card = {
      name: { formatted_name: 'Ana; "Boss"', first_name: 'Ana', last_name: 'P,S' },
      phones: [
        { phone: '+55 11 88888-7777', type: 'Work' },
        { phone: '190', type: null, wa_id: '551190' },
      ],
      organization: 'A\\B\nTEL:666',
      email: 'a@example.com',
      url: null,
    }
    expect(toVcard(card).split('\r\n')).toEqual([
      'BEGIN:VCARD',
      'VERSION:3.0',
      'N:P\\,S;Ana;;;',
      'FN:Ana\\; "Boss"',
      'ORG:A\\\\B\\nTEL:666',
      'EMAIL:a@example.com',
      'TEL;type=WORK;waid=5511888887777:+55 11 88888-7777',
      'TEL;type=CELL;waid=551190:190',
      'END:VCARD',
    ])
    const contacts = [{ displayName: 'Ana; "Boss"', vcard: toVcard(card) }]
    expect(await translate({ type: 'contacts', contacts: [card] })).toEqual({
      content: { contacts: { displayName: 'Ana; "Boss"', contacts } },
    })
  })
})
