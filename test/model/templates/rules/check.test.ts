import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toEnglish } from '../../../../src/model/sentence.js'
import { checkTemplate } from '../../../../src/model/templates/rules/check.js'
import { readDraft } from '../../../../src/model/templates/rules/draft.js'

type Part = Record<string, unknown>

const body = (text: string, example?: object): Part => ({ type: 'BODY', text, ...(example && { example }) })
const image: Part = { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::handle'] } }
const buttons = (...given: Part[]): Part => ({ type: 'BUTTONS', buttons: given })
const reply = (text: string): Part => ({ type: 'QUICK_REPLY', text })
const link = (url: string, example?: string[]): Part => ({
  type: 'URL',
  text: 'Open',
  url,
  ...(example && { example }),
})
const card = (...parts: Part[]): Part => ({ components: parts })
const offer = (text: string): Part => ({ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text } })

const hello = body('Hello {{1}}, welcome', { body_text: [['Ana']] })

function faultsOf(components: unknown[], fields: object = {}): string[] {
  const draft = readDraft({ name: 'promo', language: 'pt_BR', category: 'MARKETING', ...fields, components })
  return checkTemplate(draft).map(({ sentence }) => toEnglish(sentence))
}

describe('a template that WhatsApp takes', () => {
  it.each<[string, Part[], object?]>([
    ['a text', [body('Good day')]],
    [
      'types in lower case',
      [
        { type: 'body', text: 'Good day' },
        { type: 'footer', text: 'Bye' },
      ],
    ],
    ['positional variables', [hello]],
    ['examples without the inner list', [body('Hello {{1}}, welcome', { body_text: ['Ana'] })]],
    [
      'named variables',
      [
        {
          type: 'HEADER',
          format: 'TEXT',
          text: 'For {{name}}',
          example: { header_text_named_params: [{ param_name: 'name', example: 'Ana' }] },
        },
        body('Hello {{name}} there', { body_text_named_params: [{ param_name: 'name', example: 'Ana' }] }),
      ],
    ],
    ['an image', [image, body('Good day')]],
    ['buttons', [hello, buttons(reply('Yes'), reply('No'), link('https://shop.example/{{1}}', ['abc']))]],
    [
      'a carousel',
      [
        body('Look at this'),
        {
          type: 'CAROUSEL',
          cards: [card(image, body('Blue'), buttons(reply('More'))), card(image, body('Red'), buttons(reply('More')))],
        },
      ],
    ],
    ['an offer', [image, offer('Ends soon'), body('Take it'), buttons({ type: 'COPY_CODE', example: 'MUGS25' })]],
    ['a request to call', [body('May we call you?'), { type: 'call_permission_request' }]],
    [
      'an authentication template',
      [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 10 },
        buttons({ type: 'OTP', otp_type: 'COPY_CODE' }),
      ],
      { category: 'AUTHENTICATION', message_send_ttl_seconds: 60 },
    ],
  ])('%s', (_, components, fields) => {
    expect(faultsOf(components, fields)).toEqual([])
  })

  it('as the published examples of creations', () => {
    const folder = new URL('../../../samples/', import.meta.url)
    const names = readdirSync(folder).filter((name) => /^doc-create-template(-carousel|-offer)?\.json$/.test(name))
    for (const name of names) {
      const { components, ...fields } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
      expect([name, faultsOf(components, fields)]).toEqual([name, []])
    }
  })
})

describe('a template that WhatsApp would not take', () => {
  it.each<[string, unknown[], object?]>([
    ['name may have only the letters a to z, digits and _', [hello], { name: 'Promo 1' }],
    [
      'language "pt-br" is not one of the languages that WhatsApp has for templates: give the code of one, such as pt_BR or en',
      [hello],
      { language: 'pt-br' },
    ],
    [
      'language "xx" is not one of the languages that WhatsApp has for templates: give the code of one, such as pt_BR or en',
      [hello],
      { language: 'xx' },
    ],
    ['category must be one of AUTHENTICATION, MARKETING, UTILITY', [hello], { category: 'news' }],
    [
      'message_send_ttl_seconds must be a whole number from 43200 to 2592000',
      [hello],
      { message_send_ttl_seconds: 60 },
    ],
    ['components must have a part of the type BODY', [image]],
    ['components may have at most 1 of the type BODY, not 2', [hello, hello]],
    [
      'components[1].type must be one of HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER, CALL_PERMISSION_REQUEST',
      [hello, { type: 'POEM' }],
    ],
    ['components[0].text must not be empty', [{ type: 'BODY' }]],
    ['components[0].text must have at most 1024 characters', [body('😀'.repeat(1_025))]],
    [
      'components[0].text must not begin or end with a variable: write words before and after {{1}}',
      [body('Hello {{1}}', { body_text: [['Ana']] })],
    ],
    [
      'components[0].example.body_text must have an example for {{2}}',
      [body('Hello {{1}} and {{2}} there', { body_text: [['Ana']] })],
    ],
    [
      'components[0].text must number its variables from 1, in their order, without gaps: {{3}} is out of order',
      [body('Hello {{1}} and {{3}} there', { body_text: [['a', 'b', 'c']] })],
    ],
    [
      'components[0].text has {{First Name}}, which is not a variable of this template. Its variables are like {{1}}',
      [body('Hello {{First Name}} there')],
    ],
    ['components[0].text has braces that are not part of a variable such as {{1}}', [body('Hello {{1} there')]],
    [
      'components[0].text must have at most 60 characters',
      [{ type: 'HEADER', format: 'TEXT', text: 'a'.repeat(61) }, hello],
    ],
    [
      'components[0].text may have at most 1 variables, not 2',
      [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}} and {{2}}' }, hello],
    ],
    [
      'components[0].format must be one of TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, PRODUCT',
      [{ type: 'HEADER' }, hello],
    ],
    [
      'components[0].example.header_handle must have the handle or the address of one example file',
      [{ type: 'HEADER', format: 'IMAGE' }, hello],
    ],
    ['components[1].text may have no variables such as {{1}}', [hello, { type: 'FOOTER', text: 'Bye {{1}}' }]],
    ['components[1].text must be one line', [hello, { type: 'FOOTER', text: 'a\nb' }]],
    [
      'components[1].buttons must have at most 10 items, not 11',
      [hello, buttons(...Array.from({ length: 11 }, (_, n) => reply(`Reply ${n}`)))],
    ],
    ['components[1].buttons[0].text must have at most 25 characters', [hello, buttons(reply('a'.repeat(26)))]],
    [
      'components[1].buttons must have the quick replies together, before or after all other buttons',
      [hello, buttons(reply('a'), link('https://shop.example'), reply('b'))],
    ],
    [
      'components[1].buttons may have at most 2 of the type URL, not 3',
      [hello, buttons(...['a', 'b', 'c'].map((path) => link(`https://shop.example/${path}`)))],
    ],
    [
      'components[1].buttons[0].url must be an http or https URL. It may end in a variable: https://example.com/{{1}}',
      [hello, buttons(link('https://{{1}}.example/x'))],
    ],
    [
      'components[1].buttons[0].example must have an example for {{1}}',
      [hello, buttons(link('https://a.example/{{1}}'))],
    ],
    [
      'components[1].buttons[0].type is not possible in templates of the category UTILITY',
      [hello, buttons({ type: 'CATALOG' })],
      { category: 'UTILITY' },
    ],
    [
      'components[1].buttons[0] must have just one of flow_id, flow_name, flow_json',
      [hello, buttons({ type: 'FLOW', text: 'Start' })],
    ],
    ['components[1].cards must have at least 2 items', [hello, { type: 'CAROUSEL', cards: [card(image)] }]],
    [
      'components[1].cards[1] must have the same parts as the first card: HEADER IMAGE, BUTTONS QUICK_REPLY',
      [
        hello,
        { type: 'CAROUSEL', cards: [card(image, buttons(reply('a'))), card(image, body('b'), buttons(reply('a')))] },
      ],
    ],
    ['components[1].limited_time_offer.text must have at most 16 characters', [hello, offer('a'.repeat(17))]],
    [
      'components[1] is not possible together with BUTTONS',
      [hello, { type: 'CALL_PERMISSION_REQUEST' }, buttons(reply('a'))],
    ],
    [
      'components[0].text is not possible in templates of the category AUTHENTICATION',
      [body('Your code')],
      {
        category: 'AUTHENTICATION',
      },
    ],
  ])('%s', (message, components, fields) => {
    expect(faultsOf(components, fields)).toContain(message)
  })
})

it('any JSON has faults and never throws', () => {
  const values = [null, 0, '', 'x', true, [], {}, [[]], [null], { type: 'BODY' }, { type: 7 }, '{{', { text: {} }]
  const parts = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'].flatMap((type) =>
    ['text', 'format', 'example', 'buttons', 'cards', 'limited_time_offer'].flatMap((field) =>
      values.map((value) => ({ type, format: 'TEXT', [field]: value })),
    ),
  )
  for (const part of [...values, ...parts]) {
    for (const category of ['MARKETING', 'AUTHENTICATION']) {
      expect(Array.isArray(faultsOf([part, hello], { category }))).toBe(true)
    }
  }
})
