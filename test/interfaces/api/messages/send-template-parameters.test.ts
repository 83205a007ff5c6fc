import { beforeAll, describe, expect, it } from 'vitest'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const template = useStarted(startTemplateWorld)
let chatNumber: string

beforeAll(async () => {
  chatNumber = await template.newContact({ full_name: 'Ana Souza' })
  const quick = { type: 'QUICK_REPLY', text: 'Parar' }
  const url = (text: string, path: string) => ({ type: 'URL', text, url: `https://shop.example/${path}` })
  await template.putTemplate({ name: 'named', body: '{{greeting}}, {{name}}! {{greeting}}: {{discount}}' })
  await template.putTemplate({ name: 'numbered', body: '{{2}} antes de {{1}}, e {{1}} de novo' })
  await template.putTemplate({ name: 'headed', header: { format: 'TEXT', text: 'Pedido {{1}}' }, body: 'Olá' })
  await template.putTemplate({
    name: 'headed_by_name',
    header: { format: 'TEXT', text: 'Pedido {{number}}' },
    body: 'Oi {{name}}',
    footer: 'Parley',
  })
  await template.putTemplate({ name: 'located', header: { format: 'LOCATION' }, body: 'Estamos aqui' })
  const buttons = [
    quick,
    url('Site', 'home'),
    url('Ofertas', 's/{{1}}'),
    { type: 'COPY_CODE', text: 'X', example: 'X1' },
  ]
  await template.putTemplate({ name: 'buttoned', category: 'MARKETING', body: 'Veja', buttons })
  const flow = { type: 'FLOW', text: 'Responder', flow_id: '123' }
  await template.putTemplate({ name: 'flow', body: 'Olá, {{name}}', buttons: [flow] })
  await template.putTemplate({ name: 'second_flow', body: 'Olá', buttons: [{ ...quick, text: 'Não' }, flow] })
  await template.putTemplate({ name: 'order', body: 'Olá', buttons: [{ type: 'ORDER_DETAILS', text: 'Ver' }] })
  await template.putTemplate({ name: 'future', body: 'Olá', others: [{ type: 'SOMETHING_NEW' }] })
  await template.putTemplate({
    name: 'two_links',
    body: 'Veja',
    buttons: [url('Ofertas', 's/{{1}}'), quick, url('Conta', 'c/{{1}}')],
  })
})

const text = (value: string, parameter_name?: string) =>
  parameter_name === undefined ? { type: 'text', text: value } : { type: 'text', parameter_name, text: value }

async function componentsOf(templateName: string, fields: object = {}) {
  return (await template.sent({ templateName, chatNumber, ...fields })).components
}

async function lastText(): Promise<string> {
  const { body } = await template.read(`/conversations?chatNumber=${chatNumber}&limit=1`)
  return body.messages[0].message
}

const body = (...parameters: object[]) => ({ type: 'body', parameters })

describe('bodyParameters', () => {
  const values = [text('Oi', 'greeting'), text('Ana', 'name'), text('20%', 'discount')]

  it.each([
    ['names for names', { discount: '20%', name: 'Ana', greeting: 'Oi' }],
    ['positions for names, in the order of the text', { 3: '20%', 1: 'Oi', 2: 'Ana' }],
    ['param1, param2, … for names', { param1: 'Oi', param2: 'Ana', param3: '20%' }],
    ['names and positions together', { greeting: 'Oi', 2: 'Ana', discount: '20%' }],
  ])('%s', async (_name, bodyParameters) => {
    expect(await componentsOf('named', { bodyParameters })).toEqual([body(...values)])
    expect(await lastText()).toBe('Oi, Ana! Oi: 20%')
  })

  it.each([
    ['positions for positions', { 2: 'B', 1: 'A' }],
    ['param1, param2 for positions', { param2: 'B', param1: 'A' }],
    ['names for positions, in the order in which they are written', { first: 'A', second: 'B' }],
    ['with a name that the template does not have', { name: 'Ana', 1: 'A', 2: 'B' }],
  ])('%s', async (_name, bodyParameters) => {
    expect(await componentsOf('numbered', { bodyParameters })).toEqual([body(text('A'), text('B'))])
    expect(await lastText()).toBe('B antes de A, e A de novo')
  })

  it('of a template without variables are dropped, and the name is allowed', async () => {
    expect(await componentsOf('hello_world', { bodyParameters: { name: 'Ana' } })).toEqual([])
    expect(await componentsOf('hello_world')).toEqual([])
    expect(await lastText()).toContain('Welcome and congratulations!')
  })

  it('become one line without runs of spaces, as the upstream requires', async () => {
    const bodyParameters = { 1: '  linha 1\r\nlinha 2\n\n\tlinha 3  ', 2: `a${' '.repeat(9)}b\u2028c` }
    expect(await componentsOf('numbered', { bodyParameters })).toEqual([
      body(text('linha 1 linha 2 linha 3'), text('a b c')),
    ])
    expect(await lastText()).toBe('a b c antes de linha 1 linha 2 linha 3, e linha 1 linha 2 linha 3 de novo')
  })

  it('are plain text: a value that looks like a variable or a pattern stays unchanged', async () => {
    await componentsOf('numbered', { bodyParameters: { 1: '$& {x} $1 {{ {2}', 2: 'B' } })
    expect(await lastText()).toBe('B antes de $& {x} $1 {{ {2}, e $& {x} $1 {{ {2} de novo')
  })

  it('may contain emoji and any script', async () => {
    await componentsOf('numbered', { bodyParameters: { 1: '👩‍👩‍👧', 2: 'سلام' } })
    expect(await lastText()).toBe('سلام antes de 👩‍👩‍👧, e 👩‍👩‍👧 de novo')
  })
})

describe('a FLOW button', () => {
  it('is sent with its component, whose index counts all buttons', async () => {
    expect(await componentsOf('flow', { bodyParameters: { name: 'Ana' } })).toEqual([
      body(text('Ana', 'name')),
      { type: 'button', sub_type: 'flow', index: '0' },
    ])
    expect(await componentsOf('second_flow')).toEqual([{ type: 'button', sub_type: 'flow', index: '1' }])
  })
})

describe('a template that cannot be filled', () => {
  it.each([
    ['future', 'a SOMETHING_NEW'],
    ['order', 'a button of type ORDER_DETAILS'],
  ])('is a 400 that names why, and nothing is sent: %s', async (name, named) => {
    const unknown = template.newNumber()
    const answer = await template.send({ templateName: name, chatNumber: unknown, bodyParameters: { name: 'Ana' } })
    const message = `The template "${name}" (pt_BR) cannot be sent: it has ${named}, which cannot be filled yet`
    expect(expectRefusal(answer, 'Invalid field')).toBe(message)
    expect(await template.arrived(unknown)).toEqual([])
    expect((await template.read(`/contact?phone_number=${unknown}`)).status).toBe(404)
  })
})

describe('headerParameters', () => {
  it('fill the variable of the header by position', async () => {
    expect(await componentsOf('headed', { headerParameters: { 1: '1042' } })).toEqual([
      { type: 'header', parameters: [text('1042')] },
    ])
    expect(await lastText()).toBe('Olá')
  })

  it.each([{ number: '1042' }, { 1: '1042' }])('fill it by name: %j', async (headerParameters) => {
    const fields = { headerParameters, bodyParameters: { name: 'Ana' } }
    expect(await componentsOf('headed_by_name', fields)).toEqual([
      { type: 'header', parameters: [text('1042', 'number')] },
      body(text('Ana', 'name')),
    ])
  })

  it('give the location of a location header', async () => {
    const place = { latitude: '-23.55', longitude: '-46.63', name: 'Loja', address: 'Rua A, 1' }
    expect(await componentsOf('located', { headerParameters: place })).toEqual([
      { type: 'header', parameters: [{ type: 'location', location: place }] },
    ])
    const answer = await template.send({
      templateName: 'located',
      chatNumber,
      headerParameters: { ...place, latitude: 'north' },
    })
    expect(expectRefusal(answer, 'Invalid field')).toContain('headerParameters.latitude')
  })
})

describe('buttonParameters', () => {
  const link = (index: string, value: string) => ({
    type: 'button',
    sub_type: 'url',
    index,
    parameters: [text(value)],
  })
  const code = {
    type: 'button',
    sub_type: 'copy_code',
    index: '3',
    parameters: [{ type: 'coupon_code', coupon_code: 'SALE20' }],
  }

  it.each([
    ['param1, param2', { param1: 'abc', param2: 'SALE20' }],
    ['1, 2', { 1: 'abc', 2: 'SALE20' }],
    ['the texts of the buttons', { X: 'SALE20', Ofertas: 'abc' }],
    ['names in the order in which they are written', { link: 'abc', coupon: 'SALE20' }],
  ])('count only buttons with a variable, while the index counts all: %s', async (_name, buttonParameters) => {
    expect(await componentsOf('buttoned', { buttonParameters })).toEqual([link('2', 'abc'), code])
  })

  it('fill a code of at most 20 characters', async () => {
    const send = (length: number) => {
      const buttonParameters = { param1: 'abc', param2: 'X'.repeat(length) }
      return template.send({ templateName: 'buttoned', chatNumber, buttonParameters })
    }
    expect((await send(20)).body).toMatchObject({ success: true })
    const message = expectRefusal(await send(21), 'Invalid field')
    expect(message).toBe('buttonParameters.param2 cannot be filled: a code has at most 20 characters')
  })

  it('fill two URLs', async () => {
    const buttonParameters = { param1: 'abc', param2: 'def' }
    expect(await componentsOf('two_links', { buttonParameters })).toEqual([link('0', 'abc'), link('2', 'def')])
  })

  it("use index 2 for the sample's URL, behind its quick replies, which have no component", async () => {
    const fields = { bodyParameters: { name: 'Ana', discount: '20%' }, buttonParameters: { param1: 'abc' } }
    expect(await componentsOf('oferta_da_semana', fields)).toEqual([
      body(text('Ana', 'name'), text('20%', 'discount')),
      link('2', 'abc'),
    ])
  })

  it('encode placeholders, so that the URL stays valid', async () => {
    const digits = await template.newContact({ full_name: 'Ana/../x?y=1&z' })
    const buttonParameters = { 1: 'c?n={{full_name}}', 2: 'C' }
    const sent = await template.sent({ templateName: 'buttoned', chatNumber: digits, buttonParameters })
    expect(sent.components[0].parameters).toEqual([text('c?n=Ana%2F..%2Fx%3Fy%3D1%26z')])
  })
})

describe('missing and unknown parameters', () => {
  const refused = async (fields: object) => template.send({ chatNumber, ...fields })

  it('return Missing required field with all missing names', async () => {
    const nothing = await refused({ templateName: 'oferta_da_semana' })
    const message = expectRefusal(nothing, 'Missing required field')
    for (const path of ['bodyParameters.name', 'bodyParameters.discount', 'buttonParameters.param1']) {
      expect(message).toContain(path)
    }
  })

  it.each([
    ['bodyParameters.2', { templateName: 'numbered', bodyParameters: { 1: 'A' } }],
    ['bodyParameters.2', { templateName: 'numbered', bodyParameters: { 1: 'A', 2: '' } }],
    ['bodyParameters.2', { templateName: 'numbered', bodyParameters: { 1: 'A', 2: ' \n\t ' } }],
    ['bodyParameters.1', { templateName: 'numbered', bodyParameters: { name: 'A', 2: 'B' } }],
    ['headerParameters.1', { templateName: 'headed' }],
    ['headerParameters.number', { templateName: 'headed_by_name', bodyParameters: { name: 'Ana' } }],
    ['buttonParameters.param2', { templateName: 'buttoned', buttonParameters: { param1: 'abc' } }],
    ['headerMedia', { templateName: 'nova_colecao', bodyParameters: { name: 'Ana' } }],
  ])('return Missing required field: %s of %j', async (path, fields) => {
    expect(expectRefusal(await refused(fields), 'Missing required field')).toContain(`needs ${path}`)
  })

  it.each([
    ['bodyParameters.3', { templateName: 'numbered', bodyParameters: { 1: 'A', 2: 'B', 3: 'C' } }],
    ['bodyParameters.disc', { templateName: 'numbered', bodyParameters: { 1: 'A', 2: 'B', disc: 'C' } }],
    ['bodyParameters.1', { templateName: 'hello_world', bodyParameters: { 1: 'A' } }],
    ['headerParameters.1', { templateName: 'hello_world', headerParameters: { 1: 'A' } }],
    ['headerParameters.name', { templateName: 'hello_world', headerParameters: { name: 'A' } }],
    ['buttonParameters.param1', { templateName: 'hello_world', buttonParameters: { param1: 'A' } }],
    ['buttonParameters.name', { templateName: 'hello_world', buttonParameters: { name: 'A' } }],
    ['headerMedia', { templateName: 'hello_world', headerMedia: 'https://shop.example/a.png' }],
  ])('return Invalid field: %s is unknown in %j', async (path, fields) => {
    expect(expectRefusal(await refused(fields), 'Invalid field')).toContain(`has no ${path}`)
  })

  it('are named in one message if both occur', async () => {
    const bodyParameters = { name: 'Ana', discuont: '20%', other: 'x' }
    const answer = await refused({ templateName: 'oferta_da_semana', bodyParameters, buttonParameters: { 1: 'a' } })
    const message = expectRefusal(answer, 'Missing required field')
    for (const path of ['discount', 'discuont', 'other']) expect(message).toContain(`bodyParameters.${path}`)
  })

  it('prevent the send, and nothing is recorded', async () => {
    const digits = await template.newContact()
    await template.send({ templateName: 'numbered', chatNumber: digits, bodyParameters: { 1: 'A' } })
    await template.send({ templateName: 'hello_world', chatNumber: digits, bodyParameters: { 1: 'A' } })
    await template.expectNothingSent(digits)
  })
})
