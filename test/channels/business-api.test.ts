import { describe, expect, it } from 'vitest'
import { toOutbound } from '../../src/channels/business-api.js'
import { describeContent } from '../../src/core/messages/send/describe-content.js'
import type { JsonObject } from '../../src/lib/text/json.js'
import type { ReadyContent } from '../../src/model/messages/content.js'
import { fillTemplate } from '../../src/model/templates/fill.js'
import type { TemplateParameters } from '../../src/model/templates/parameters.js'
import { schemaErrors } from '../support/message-schema.js'
import { makeTemplate } from '../support/templates.js'

const ana = { full_name: 'Ana', email: null, phone_number: '+5511987654321', chat_id: '5511987654321' }
const file = { channelMediaId: '77' }

function fill(
  fields: Parameters<typeof makeTemplate>[0],
  given: Partial<TemplateParameters>,
  headerMedia: Parameters<typeof fillTemplate<typeof file>>[3] = null,
) {
  const filled = fillTemplate(makeTemplate(fields), { body: {}, header: {}, buttons: {}, ...given }, ana, headerMedia)
  if (filled.outcome === 'missing') throw new Error(filled.text)
  return filled.content
}

/** The posted body of a template, checked against the upstream's own description. */
function posted(content: ReturnType<typeof fill>): JsonObject {
  const recipient = { phone: ana.chat_id }
  const message = toOutbound({ id: 'ours', recipient, content, replyToUpstreamId: null })
  expect(schemaErrors(message)).toEqual([])
  expect(message.type).toBe('template')
  return (message as unknown as { template: JsonObject }).template
}

const body = { type: 'BODY', text: 'Hi {{name}}' }

describe('a template to send', () => {
  it('names its parameters if the template names them', () => {
    const header = { type: 'HEADER', format: 'TEXT', text: 'For {{who}}' }
    expect(posted(fill({ components: [header, body] }, { body: { name: 'Ana' }, header: { who: 'you' } }))).toEqual({
      name: 'promo',
      language: { code: 'pt_BR' },
      components: [
        { type: 'header', parameters: [{ type: 'text', parameter_name: 'who', text: 'you' }] },
        { type: 'body', parameters: [{ type: 'text', parameter_name: 'name', text: 'Ana' }] },
      ],
    })
  })

  it('leaves positional parameters without names', () => {
    const components = [{ type: 'BODY', text: 'Hi {{1}}' }]
    expect(posted(fill({ parameter_format: 'POSITIONAL', components }, { body: { 1: 'Ana' } }))).toMatchObject({
      components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ana' }] }],
    })
  })

  it('counts the index of a button among all buttons', () => {
    const buttons = [
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'COPY_CODE', text: 'Copy' },
      { type: 'URL', text: 'Site', url: 'https://shop.example' },
      { type: 'URL', text: 'View', url: 'https://s.example/{{1}}' },
      { type: 'FLOW', text: 'Answer', flow_id: '123' },
    ]
    const given = { buttons: { param1: 'TEN', param2: 'abc' } }
    expect(posted(fill({ components: [{ type: 'BUTTONS', buttons }] }, given))).toMatchObject({
      components: [
        {
          type: 'button',
          sub_type: 'copy_code',
          index: '1',
          parameters: [{ type: 'coupon_code', coupon_code: 'TEN' }],
        },
        { type: 'button', sub_type: 'url', index: '3', parameters: [{ type: 'text', text: 'abc' }] },
        { type: 'button', sub_type: 'flow', index: '4' },
      ],
    })
  })

  it.each([
    ['IMAGE', { type: 'image', image: { id: '77' } }],
    ['VIDEO', { type: 'video', video: { id: '77' } }],
    ['DOCUMENT', { type: 'document', document: { id: '77', filename: 'a.pdf' } }],
  ])('carries its %s', (format, parameter) => {
    const content = fill({ components: [{ type: 'HEADER', format }] }, {}, { file, filename: 'a.pdf' })
    expect(posted(content)).toMatchObject({ components: [{ type: 'header', parameters: [parameter] }] })
  })

  it('carries a location', () => {
    const location = { latitude: '-23.5', longitude: '-46.6', name: 'Loja', address: 'Rua 1' }
    const components = [{ type: 'HEADER', format: 'LOCATION' }]
    expect(posted(fill({ components }, { header: location }))).toMatchObject({
      components: [{ type: 'header', parameters: [{ type: 'location', location }] }],
    })
  })

  it('without variables has no components', () => {
    expect(posted(fill({ components: [{ type: 'BODY', text: 'Hi' }] }, {}))).toMatchObject({ components: [] })
  })
})

describe('a template in a conversation', () => {
  it('shows its filled-in body, the kind of its file, its header and its footer', () => {
    const buttons = [{ type: 'QUICK_REPLY', text: 'Stop' }]
    const components = [
      { type: 'HEADER', format: 'DOCUMENT' },
      body,
      { type: 'FOOTER', text: 'Bye' },
      { type: 'BUTTONS', buttons },
    ]
    expect(describeContent(fill({ components }, { body: { name: 'Ana' } }, { file, filename: 'a.pdf' }))).toEqual({
      text: 'Hi Ana',
      media_type: 'document',
      content: {
        name: 'promo',
        language: 'pt_BR',
        filename: 'a.pdf',
        footer: 'Bye',
        buttons: [{ type: 'quick_reply', text: 'Stop' }],
        parameters: [{ component: 'body', name: 'name', text: 'Ana' }],
      },
    })
  })

  it('shows a text header, which is not a file', () => {
    const components = [{ type: 'HEADER', format: 'TEXT', text: 'Hello' }, body]
    expect(describeContent(fill({ components }, { body: { name: 'Ana' } }))).toMatchObject({
      media_type: null,
      content: { header: 'Hello' },
    })
  })
})

describe('content that only the gateway sends', () => {
  const out = (content: ReadyContent) => {
    const {
      messaging_product: _product,
      recipient_type: _type,
      to: _to,
      biz_opaque_callback_data: _id,
      ...rest
    } = toOutbound({
      id: 'ours',
      recipient: { phone: ana.chat_id },
      content,
      replyToUpstreamId: null,
    }) as unknown as JsonObject
    return rest
  }

  it.each<[string, ReadyContent, object]>([
    ['a sticker', { type: 'sticker', file }, { type: 'sticker', sticker: { id: '77' } }],
    ['a voice note', { type: 'audio', file, voice: true }, { type: 'audio', audio: { id: '77', voice: true } }],
    ['other audio', { type: 'audio', file, voice: false }, { type: 'audio', audio: { id: '77' } }],
    [
      'a video note, as a video',
      { type: 'video', file, caption: null, round: true },
      { type: 'video', video: { id: '77' } },
    ],
    [
      'a text without its mentions',
      { type: 'text', text: 'Hi', linkPreview: false, mentions: ['1@lid'] },
      { type: 'text', text: { body: 'Hi', preview_url: false } },
    ],
    [
      'a poll',
      { type: 'poll', name: 'Which?', options: ['a', 'b'], selectableCount: 1 },
      { type: 'poll', poll: { name: 'Which?', options: ['a', 'b'], selectable_count: 1 } },
    ],
    [
      'a template as it was written',
      { type: 'raw_template', name: 'promo', language: 'pt_BR', components: [{ type: 'body', any: 1 }], text: 'promo' },
      {
        type: 'template',
        template: { name: 'promo', language: { code: 'pt_BR' }, components: [{ type: 'body', any: 1 }] },
      },
    ],
  ])('becomes %s', (_what, content, expected) => expect(out(content)).toEqual(expected))

  it('becomes a contact card with all given fields', () => {
    const card = {
      name: { formatted_name: 'Ana Lima', first_name: 'Ana', last_name: null },
      phones: [{ phone: '+55 11 98765-4321', type: 'CELL', wa_id: '5511987654321' }],
      organization: 'Loja',
      email: 'ana@shop.example',
      url: 'https://shop.example',
    }
    const message = { id: 'ours', recipient: { phone: ana.chat_id }, replyToUpstreamId: null }
    const content: ReadyContent = { type: 'contacts', contacts: [card] }
    expect(schemaErrors(toOutbound({ ...message, content }))).toEqual([])
    expect(out(content)).toEqual({
      type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Ana Lima', first_name: 'Ana' },
          phones: [{ phone: '+55 11 98765-4321', type: 'CELL', wa_id: '5511987654321' }],
          org: { company: 'Loja' },
          emails: [{ email: 'ana@shop.example' }],
          urls: [{ url: 'https://shop.example' }],
        },
      ],
    })
  })

  it.each<ReadyContent>([
    { type: 'sticker', file },
    { type: 'audio', file, voice: true },
    { type: 'text', text: 'Hi', linkPreview: true },
  ])('matches the schema that the upstream publishes: $type', (content) => {
    const message = toOutbound({ id: 'ours', recipient: { phone: ana.chat_id }, content, replyToUpstreamId: null })
    expect(schemaErrors(message)).toEqual([])
  })
})
