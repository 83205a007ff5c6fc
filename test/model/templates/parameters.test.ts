import { describe, expect, it } from 'vitest'
import type { Problem } from '../../../src/model/problem.js'
import { checkParameters, readParameters, type TemplateParameters } from '../../../src/model/templates/parameters.js'
import type { Template } from '../../../src/model/templates/template.js'
import { makeTemplate } from '../../support/templates.js'

const none: TemplateParameters = { body: {}, header: {}, buttons: {} }
const bodyOf = (template: Template, body: Record<string, string>) => readParameters(template, { ...none, body }, false)

const named = makeTemplate()
const positional = makeTemplate({
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: '{{2}} for {{1}}' }],
})

describe('the variables of a body', () => {
  it.each<[string, Template, Record<string, string>, Record<string, string>]>([
    ['names', named, { discount: '10%', name: 'Ana' }, { name: 'Ana', discount: '10%' }],
    ['positions, in the order of the text', named, { 1: 'Ana', 2: '5' }, { name: 'Ana', discount: '5' }],
    ['both', named, { name: 'Ana', 2: '5' }, { name: 'Ana', discount: '5' }],
    [
      'a name, which takes precedence over a position',
      named,
      { 1: 'Bob', name: 'Ana', discount: '5' },
      { name: 'Ana', discount: '5' },
    ],
    ['numbers', positional, { 1: 'Ana', 2: '5' }, { 1: 'Ana', 2: '5' }],
    [
      'numbers, in addition to the name of a new contact',
      positional,
      { 1: 'a', 2: 'b', name: 'Ana' },
      { 1: 'a', 2: 'b', name: 'Ana' },
    ],
    ['unknown names, in order', positional, { who: 'Ana', off: '5' }, { 1: 'Ana', 2: '5' }],
    [
      'unknown names, in addition to the name of a new contact',
      positional,
      { name: 'Ana', who: 'a', off: 'b' },
      { 1: 'a', 2: 'b', name: 'Ana' },
    ],
    [
      'unknown names that include that of a new contact',
      positional,
      { name: 'Ana', off: '5' },
      { 1: 'Ana', 2: '5', name: 'Ana' },
    ],
  ])('are filled by %s', (_by, template, body, expected) => {
    const { parameters, missing, surplus } = bodyOf(template, body)
    expect({ body: parameters.body, missing, surplus }).toEqual({ body: expected, missing: [], surplus: [] })
    expect(bodyOf(template, parameters.body)).toMatchObject({
      parameters: { body: expected },
      missing: [],
      surplus: [],
    })
  })

  it('are missing if the value is absent or blank', () => {
    expect(bodyOf(named, { name: ' \n' }).missing).toEqual(['bodyParameters.name', 'bodyParameters.discount'])
    expect(bodyOf(positional, {}).missing).toEqual(['bodyParameters.1', 'bodyParameters.2'])
  })

  it('report surplus parameters', () => {
    expect(bodyOf(named, { name: 'Ana', discount: '5', 3: 'x', color: 'red' }).surplus).toEqual([
      'bodyParameters.3',
      'bodyParameters.color',
    ])
    expect(bodyOf(positional, { 1: 'Ana', off: '5' })).toMatchObject({
      missing: ['bodyParameters.2'],
      surplus: ['bodyParameters.off'],
    })
    expect(bodyOf(positional, { only: 'Ana' }).surplus).toEqual(['bodyParameters.only'])
  })

  it('do not use the names of an earlier request', () => {
    bodyOf(positional, { who: 'Ana', off: '5' })
    expect(bodyOf(positional, { 1: 'Bia', who: 'Ana', off: '5' })).toMatchObject({
      parameters: { body: { 1: 'Bia' } },
      missing: ['bodyParameters.2'],
      surplus: ['bodyParameters.who', 'bodyParameters.off'],
    })
  })

  it('use the name of a new contact', () => {
    const plain = makeTemplate({ components: [{ type: 'BODY', text: 'Hi' }] })
    expect(bodyOf(plain, { name: 'Ana' })).toMatchObject({ parameters: { body: { name: 'Ana' } }, surplus: [] })
  })

  it('are not read from properties that every object has', () => {
    const template = makeTemplate({ components: [{ type: 'BODY', text: '{{constructor}}' }] })
    expect(bodyOf(template, {}).missing).toEqual(['bodyParameters.constructor'])
  })
})

describe('the parameters of buttons', () => {
  const template = makeTemplate({
    components: [
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'View', url: 'https://s.example/{{code}}' },
          { type: 'COPY_CODE', text: 'Copy' },
        ],
      },
    ],
  })
  it.each<[string, Record<string, string>]>([
    ['paramN, for the N-th button with a parameter', { param1: 'a', param2: 'b' }],
    ['the number alone', { 1: 'a', 2: 'b' }],
    ['the name of its variable and its text', { code: 'a', Copy: 'b' }],
    ['its text', { View: 'a', Copy: 'b' }],
    ['other names, in order', { link: 'a', coupon: 'b' }],
  ])('are named by %s', (_by, buttons) => {
    expect(readParameters(template, { ...none, buttons }, false)).toEqual({
      parameters: { body: {}, header: {}, buttons: { param1: 'a', param2: 'b' } },
      missing: [],
      surplus: [],
    })
  })

  it('are not named by the position among all buttons', () => {
    expect(readParameters(template, { ...none, buttons: { 0: 'a', 3: 'b' } }, false)).toMatchObject({
      missing: ['buttonParameters.param1', 'buttonParameters.param2'],
    })
  })
})

describe('the header of a template', () => {
  it('may be a text with its own variable', () => {
    const template = makeTemplate({
      parameter_format: 'POSITIONAL',
      components: [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}}' }],
    })
    expect(readParameters(template, none, false).missing).toEqual(['headerParameters.1'])
    expect(readParameters(template, { ...none, header: { 1: 'Ana' } }, false).missing).toEqual([])
  })

  it('may be a file', () => {
    const template = makeTemplate({ components: [{ type: 'HEADER', format: 'IMAGE' }] })
    expect(readParameters(template, none, false)).toMatchObject({ missing: ['headerMedia'], surplus: [] })
    expect(readParameters(template, none, true)).toMatchObject({ missing: [], surplus: [] })
  })

  it('may be a location', () => {
    const template = makeTemplate({ components: [{ type: 'HEADER', format: 'LOCATION' }] })
    const header = { latitude: '-23.5', longitude: '-46.6', name: 'Loja' }
    expect(readParameters(template, { ...none, header }, false).missing).toEqual(['headerParameters.address'])
  })

  it('may lack a file, although one is given', () => {
    expect(readParameters(makeTemplate({ components: [] }), none, true).surplus).toEqual(['headerMedia'])
  })
})

describe('checking parameters', () => {
  const refusalOf = (body: Record<string, string>, mayLack = false) => {
    try {
      checkParameters(named, { ...none, body }, { hasHeaderMedia: true, mayLack })
    } catch (error) {
      return error as Problem
    }
    throw new Error('nothing was refused')
  }

  it('names all missing and unknown parameters at once, and the known ones', () => {
    expect(refusalOf({ color: 'red' })).toMatchObject({
      code: 'missing_field',
      message:
        'The template "promo" (pt_BR) needs bodyParameters.name, bodyParameters.discount, and has no bodyParameters.color, headerMedia: it takes bodyParameters.name, bodyParameters.discount',
    })
  })

  it('accepts missing values that follow later, but no unknown ones', () => {
    expect(refusalOf({}, true)).toMatchObject({
      code: 'invalid_field',
      message: expect.stringContaining('headerMedia'),
    })
    const given = { ...none, body: { 2: '5%' } }
    const checked = checkParameters(named, given, { hasHeaderMedia: false, mayLack: true })
    expect(checked).toEqual({ ...none, body: { discount: '5%' } })
  })

  it('refuses an unknown placeholder', () => {
    const given = { ...none, body: { name: 'Hi {{firstname}}', discount: '5' } }
    expect(() => checkParameters(named, given, { hasHeaderMedia: false })).toThrow(
      'There is no placeholder {{firstname}} in bodyParameters.name: use one of {{first_name}}, {{full_name}}, {{email}}, {{phone_number}}, {{chat_id}}',
    )
  })

  it('does not list all of a thousand long keys', () => {
    const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}${'x'.repeat(500)}`, 'v']))
    expect(refusalOf(body).message.length).toBeLessThan(2_000)
  })
})
