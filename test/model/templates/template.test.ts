import { describe, expect, it } from 'vitest'
import {
  describeTemplate,
  inferParameterFormat,
  presentTemplate,
  quickReplies,
  type Template,
} from '../../../src/model/templates/template.js'
import { makeTemplate } from '../../support/templates.js'

const body = (text: string) => [{ type: 'BODY', text }]

describe('the structure of a template', () => {
  it('is computed once per template', () => {
    const [template, alike] = [makeTemplate(), makeTemplate()]
    expect(describeTemplate(template)).toBe(describeTemplate(template))
    expect(describeTemplate(alike)).not.toBe(describeTemplate(template))
  })

  it('contains body, header, footer and buttons, and their variables', () => {
    const template = makeTemplate({
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Hello {{who}}' },
        { type: 'BODY', text: '{{b}}, {{ a }} and {{b}} again' },
        { type: 'FOOTER', text: 'Bye' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Stop' },
            { type: 'URL', text: 'Site', url: 'https://shop.example' },
            { type: 'URL', text: 'Order', url: 'https://shop.example/{{1}}' },
            { type: 'COPY_CODE', text: 'Copy' },
            { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+16505550001' },
            { type: 'FLOW', text: 'Form' },
            { type: 'OTP', otp_type: 'COPY_CODE', text: 'Code' },
          ],
        },
      ],
    })
    expect(describeTemplate(template)).toEqual({
      header: { kind: 'text', text: 'Hello {{who}}', variables: ['who'] },
      body: { text: '{{b}}, {{ a }} and {{b}} again', variables: ['b', 'a'] },
      footer: 'Bye',
      buttons: [
        { index: 0, kind: 'quick_reply', text: 'Stop', needsParameter: false, variable: null },
        { index: 1, kind: 'url', text: 'Site', needsParameter: false, variable: null },
        { index: 2, kind: 'url', text: 'Order', needsParameter: true, variable: null },
        { index: 3, kind: 'copy_code', text: 'Copy', needsParameter: true, variable: null },
        { index: 4, kind: 'phone_number', text: 'Call', needsParameter: false, variable: null },
        { index: 5, kind: 'flow', text: 'Form', needsParameter: false, variable: null },
        { index: 6, kind: 'url', text: 'Code', needsParameter: true, variable: null },
      ],
      unfillable: null,
    })
  })

  it.each([
    ['IMAGE', { kind: 'image' }],
    ['video', { kind: 'video' }],
    ['DOCUMENT', { kind: 'document' }],
    ['LOCATION', { kind: 'location' }],
    ['HOLOGRAM', null],
  ])('has a header of format %s', (format, header) => {
    expect(describeTemplate(makeTemplate({ components: [{ type: 'header', format }] })).header).toEqual(header)
  })

  it.each<[string, Template['components'], string | null]>([
    ['without components', [], null],
    [
      'with parts of the wrong kind',
      [{ type: 'BODY', text: 7 }, { type: 'BUTTONS', buttons: 'none' }, { type: null }, {}],
      'component without a type',
    ],
    ['with unknown components', [{ type: 'CAROUSEL', cards: [] }], 'CAROUSEL'],
  ])('is empty for a template %s', (_name, components, unfillable) => {
    const empty = { body: { text: '', variables: [] }, header: null, footer: null, buttons: [], unfillable }
    expect(describeTemplate(makeTemplate({ components }))).toEqual(empty)
  })

  it.each<[Template['components'], string | null]>([
    [[{ type: 'LIMITED_TIME_OFFER' }], 'LIMITED_TIME_OFFER'],
    [[{ type: 'carousel' }], 'CAROUSEL'],
    [[{ type: 'HEADER', format: 'PRODUCT' }], 'HEADER with the format PRODUCT'],
    [[{ type: 'BUTTONS', buttons: [{ type: 'URL' }, { type: 'CATALOG' }] }], 'button of type CATALOG'],
    [[{ type: 'BUTTONS', buttons: [{ type: 'mpm' }] }], 'button of type MPM'],
    [[{ type: 'BODY', text: 'Hi' }, { type: 'call_permission_request' }], null],
    [[{ type: 'BUTTONS', buttons: [{ type: 'VOICE_CALL' }, { type: 'FLOW' }] }], null],
  ])('names what cannot be filled: %j', (components, unfillable) => {
    expect(describeTemplate(makeTemplate({ components })).unfillable).toBe(unfillable)
  })

  it('counts an unreadable button, so that the others keep their index', () => {
    const buttons = [null, { type: 'URL', text: 'Go', url: 'https://shop.example/{{1}}' }]
    const { buttons: read } = describeTemplate(makeTemplate({ components: [{ type: 'BUTTONS', buttons }] }))
    expect(read.map(({ index, kind }) => ({ index, kind }))).toEqual([
      { index: 0, kind: 'other' },
      { index: 1, kind: 'url' },
    ])
  })

  it('accepts only numbers as variables of a positional template', () => {
    const template = makeTemplate({ parameter_format: 'POSITIONAL', components: body('{{1}} and {{name}}') })
    expect(describeTemplate(template).body.variables).toEqual(['1'])
  })
})

describe('the parameter format', () => {
  it.each([
    ['POSITIONAL', 'Hi {{1}}, {{2}}'],
    ['POSITIONAL', 'Hi'],
    ['NAMED', 'Hi {{name}}'],
    ['NAMED', 'Hi {{1}}, {{name}}'],
  ])('is %s for %s', (format, text) => {
    expect(inferParameterFormat(body(text))).toBe(format)
  })
})

it('the texts of quick replies are in order', () => {
  const buttons = [
    { type: 'QUICK_REPLY', text: 'Yes' },
    { type: 'URL', text: 'Site', url: 'https://shop.example' },
    { type: 'quick_reply', text: 'No' },
  ]
  expect(quickReplies(makeTemplate({ components: [{ type: 'BUTTONS', buttons }] }))).toEqual(['Yes', 'No'])
})

it('a template is shown without internal fields', () => {
  const template = makeTemplate({ components: body('Hi') })
  const unreported = { id: null, quality: null, rejected_reason: null, paused_until: null }
  expect(presentTemplate({ ...template, organization_id: 'o' } as Template)).toEqual({ ...template, ...unreported })
})

it.each<[Partial<Template>, object]>([
  [
    { status: 'REJECTED', status_reason: 'SCAM' },
    { rejected_reason: 'SCAM', paused_until: null },
  ],
  [{ status: 'APPROVED', status_reason: 'SCAM' }, { rejected_reason: null }],
  [
    { status: 'PAUSED', status_reason: 'FIRST_PAUSE', status_at: '2026-11-20T10:00:00.000Z' },
    { rejected_reason: null, paused_until: '2026-11-20T13:00:00.000Z' },
  ],
  [
    { status: 'PAUSED', status_reason: 'SECOND_PAUSE', status_at: new Date('2026-11-20T10:00:00Z') },
    { paused_until: '2026-11-20T16:00:00.000Z' },
  ],
  [{ status: 'PAUSED', status_reason: 'RATE_LIMITING_PAUSE', status_at: new Date() }, { paused_until: null }],
  [{ status: 'PAUSED', status_reason: 'constructor', status_at: new Date() }, { paused_until: null }],
])('a template with %j shows %j', (fields, shown) => {
  expect(presentTemplate(makeTemplate(fields))).toMatchObject(shown)
})
