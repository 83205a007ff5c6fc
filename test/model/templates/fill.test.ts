import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillTemplate } from '../../../src/model/templates/fill.js'
import type { TemplateParameters } from '../../../src/model/templates/parameters.js'
import { makeTemplate } from '../../support/templates.js'

const ana = { full_name: '🎉 Ana Souza', email: null, phone_number: '+5511987654321', chat_id: '5511987654321' }
const none: TemplateParameters = { body: {}, header: {}, buttons: {} }
const filledBy = (fields: Parameters<typeof makeTemplate>[0], given: Partial<TemplateParameters>) =>
  fillTemplate(makeTemplate(fields), { ...none, ...given }, ana, null)

describe('filling a template', () => {
  it('puts the values of its variables into the body and into the request', () => {
    expect(filledBy({}, { body: { discount: ' 10\n% ', name: '{{first_name}}' } })).toEqual({
      outcome: 'filled',
      content: {
        type: 'template',
        template: {
          name: 'promo',
          language: 'pt_BR',
          header: null,
          body: {
            text: 'Hi Ana, 10 % off',
            parameters: [
              { name: 'name', text: 'Ana' },
              { name: 'discount', text: '10 %' },
            ],
          },
          footer: null,
          buttons: [],
        },
        header: null,
      },
    })
  })

  it('orders positions by number, wherever they occur', () => {
    const components = [{ type: 'BODY', text: '{{2}} for {{1}}, {{ 1 }}!' }]
    expect(filledBy({ parameter_format: 'POSITIONAL', components }, { body: { 1: 'Ana', 2: '5%' } })).toMatchObject({
      content: {
        template: {
          body: {
            text: '5% for Ana, Ana!',
            parameters: [
              { name: null, text: 'Ana' },
              { name: null, text: '5%' },
            ],
          },
        },
      },
    })
  })

  it('adds the header file, and the parameters of its buttons at their index', () => {
    const template = makeTemplate({
      components: [
        { type: 'HEADER', format: 'DOCUMENT' },
        { type: 'FOOTER', text: 'Bye' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Stop' },
            { type: 'URL', text: 'View', url: 'https://s.example/{{1}}' },
          ],
        },
      ],
    })
    const file = { channelMediaId: '77' }
    const given = { ...none, buttons: { param1: 'x?n={{full_name}}&to={{phone_number}}' } }
    expect(
      fillTemplate(template, given, { ...ana, full_name: 'Ana Souza' }, { file, filename: 'a.pdf' }),
    ).toMatchObject({
      content: {
        header: { type: 'document', file, filename: 'a.pdf' },
        template: {
          footer: 'Bye',
          buttons: [
            { index: 0, kind: 'quick_reply', text: 'Stop', parameter: null },
            { index: 1, kind: 'url', text: 'View', parameter: 'x?n=Ana%20Souza&to=%2B5511987654321' },
          ],
        },
      },
    })
  })

  it('adds a header text or location', () => {
    const text = [{ type: 'HEADER', format: 'TEXT', text: 'For {{who}}' }]
    expect(filledBy({ components: text }, { header: { who: '{{first_name}}' } })).toMatchObject({
      content: { template: { header: { type: 'text', text: 'For Ana', parameters: [{ name: 'who', text: 'Ana' }] } } },
    })
    const place = [{ type: 'HEADER', format: 'LOCATION' }]
    const header = { latitude: '-23.5', longitude: '-46.6', name: 'Loja', address: 'Rua 1' }
    expect(filledBy({ components: place }, { header })).toMatchObject({
      content: { template: { header: { type: 'location', ...header } } },
    })
  })
})

describe('a template cannot be filled', () => {
  it.each<[string, Partial<TemplateParameters>, string, string]>([
    ['a value is missing', { body: { name: 'Ana' } }, 'bodyParameters.discount', 'is not given'],
    [
      'the contact lacks the value of a placeholder',
      { body: { name: 'Ana', discount: '{{email}}' } },
      'bodyParameters.discount',
      'bodyParameters.discount cannot be filled: {{email}} resolves to nothing for this contact',
    ],
    ['a placeholder is unknown', { body: { name: '{{nick}}', discount: '5' } }, 'bodyParameters.name', '{{nick}}'],
  ])('if %s', (_when, given, field, text) => {
    expect(filledBy({}, given)).toEqual({ outcome: 'missing', field, text: expect.stringContaining(text) })
  })

  it('without its file or location', () => {
    const image = [{ type: 'HEADER', format: 'IMAGE' }]
    expect(filledBy({ components: image }, {})).toMatchObject({ outcome: 'missing', field: 'headerMedia' })
    const place = [{ type: 'HEADER', format: 'LOCATION' }]
    const header = { latitude: 'north', longitude: '-46.6', name: 'Loja', address: 'Rua 1' }
    expect(filledBy({ components: place }, { header })).toMatchObject({ field: 'headerParameters.latitude' })
  })
})

/** Texts as in requests and names, with much that the upstream refuses. */
const wildText = fc
  .array(fc.oneof(fc.string(), fc.constantFrom('\n', '\t', '\r\n', '     ', '\u00a0', '\u2029', '{{full_name}}', '$&')))
  .map((parts) => parts.join(''))

describe('a filled template', () => {
  it('contains no line break, tab or five spaces, is never empty, and has its variables in order', () => {
    fc.assert(
      fc.property(wildText, wildText, wildText, (name, discount, full_name) => {
        const filled = fillTemplate(makeTemplate(), { ...none, body: { discount, name } }, { ...ana, full_name }, null)
        if (filled.outcome === 'missing') return
        const { parameters, text } = filled.content.template.body
        expect(parameters.map((parameter) => parameter.name)).toEqual(['name', 'discount'])
        for (const parameter of parameters) expect(parameter.text).not.toMatch(/^$|[\n\r\t]| {5}|^ | $/)
        expect(text).toBe(`Hi ${parameters[0]?.text}, ${parameters[1]?.text} off`)
      }),
    )
  })
})
