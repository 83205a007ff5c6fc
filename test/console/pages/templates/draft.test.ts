import { describe, expect, it } from 'vitest'
import {
  componentsOf,
  type Draft,
  draftOf,
  emptyDraft,
  faultAt,
  formatOf,
  pathsOf,
  shownFaults,
} from '../../../../console/src/pages/templates/edit/draft.js'
import type { Fault, Template } from '../../../../console/src/pages/templates/types.js'

const draft = (fields: Partial<Draft> = {}): Draft => ({ ...emptyDraft('pt_BR'), body: 'Oi, tudo bem?', ...fields })

const shown = (fields: Partial<Template>): Template => ({
  ...{
    name: 'promo',
    language: 'pt_BR',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'NAMED' as const,
  },
  ...{ components: [], id: '1', quality: null, rejected_reason: null, paused_until: null },
  ...fields,
})

const components = [
  { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://cdn.example/a'] } },
  {
    type: 'BODY',
    text: 'Oi {{name}}, tudo bem?',
    example: { body_text_named_params: [{ param_name: 'name', example: 'Ana' }] },
  },
  { type: 'FOOTER', text: 'Loja' },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Sim' },
      { type: 'URL', text: 'Ver', url: 'https://shop.example/{{1}}', example: ['abc'] },
      { type: 'PHONE_NUMBER', text: 'Ligar', phone_number: '+5511900001234' },
      { type: 'COPY_CODE', example: 'MUGS25' },
    ],
  },
]

describe('the form of a template', () => {
  it('shows a template, and gives the same components back', () => {
    const read = draftOf(shown({ components }))
    expect(read).toMatchObject({ name: 'promo', headerKind: 'image', footer: 'Loja', bodyExamples: { name: 'Ana' } })
    expect(read && componentsOf(read)).toEqual(components)
  })

  it('is not there for a field that it would drop', () => {
    const button = {
      type: 'URL',
      text: 'Ver',
      url: 'https://shop.example',
      app_deep_link: { android_deep_link: 'a:b' },
    }
    const body = { type: 'BODY', text: 'Oi, tudo bem?' }
    const withButton = [body, { type: 'BUTTONS', buttons: [button] }]
    expect(draftOf(shown({ components: withButton }))).toBeNull()
    expect(draftOf(shown({ components: [{ ...body, add_security_recommendation: true }] }))).toBeNull()
    expect(draftOf(shown({ components: [body] }))).not.toBeNull()
  })

  it('gives positional examples in the order of the text', () => {
    const positional = draft({
      ...{ headerKind: 'text', headerText: 'Para {{1}}', headerExamples: { 1: 'Ana' } },
      ...{ body: 'Oi {{1}} e {{2}}, tudo bem?', bodyExamples: { 2: 'Bia', 1: 'Ana' } },
    })
    expect(formatOf(positional)).toBe('POSITIONAL')
    expect(componentsOf(positional)).toEqual([
      { type: 'HEADER', format: 'TEXT', text: 'Para {{1}}', example: { header_text: ['Ana'] } },
      { type: 'BODY', text: positional.body, example: { body_text: [['Ana', 'Bia']] } },
    ])
  })

  it.each([
    [{ components: [...components, { type: 'CAROUSEL', cards: [] }] }],
    [
      {
        components: [
          { type: 'BODY', text: 'Oi' },
          { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'x' }] },
        ],
      },
    ],
    [
      {
        components: [
          { type: 'HEADER', format: 'PRODUCT' },
          { type: 'BODY', text: 'Oi' },
        ],
      },
    ],
    [{ category: 'AUTHENTICATION', components: [{ type: 'BODY', text: 'Oi' }] }],
  ])('does not take %j', (fields) => {
    expect(draftOf(shown(fields))).toBeNull()
  })
})

describe('faults', () => {
  const fault = (field: string, code = 'at_most'): Fault => ({
    field,
    message: '',
    sentence: { code: code as Fault['sentence']['code'], values: { field } },
  })

  it('are found at their parts', () => {
    const button = { key: 0, kind: 'QUICK_REPLY', text: '', value: '', example: '' } as const
    const paths = pathsOf(draft({ headerKind: 'text', buttons: [button] }))
    expect(paths).toEqual({
      header: 'components[0]',
      body: 'components[1]',
      footer: null,
      buttons: 'components[2].buttons',
    })
    const faults = [fault('components[1].text'), fault('components[2].buttons[0].text')]
    expect(faultAt(faults, `${paths.body}.text`)).toBe(faults[0])
    expect(faultAt(faults, `${paths.buttons}[0].text`)).toBe(faults[1])
    expect(faultAt(faults, paths.header)).toBeUndefined()
    expect(faultAt(faults, paths.footer)).toBeUndefined()
  })

  it('of what is not filled yet are shown once the template is sent', () => {
    const faults = [fault('name', 'not_empty'), fault('components[0].text')]
    expect(shownFaults(faults, false)).toEqual([faults[1]])
    expect(shownFaults(faults, true)).toEqual(faults)
  })
})
