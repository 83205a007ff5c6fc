import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { Maybe, RequiredText } from '../../src/model/fields.js'
import { compileGiven } from '../../src/model/given.js'

const Inner = Type.Object({ id: RequiredText(10), note: Type.Optional(Type.String()) })
const dropNotGiven = compileGiven(
  Type.Object({
    name: RequiredText(10),
    place: Inner,
    text: Type.Optional(Type.String()),
    count: Type.Optional(Type.Integer()),
    anything: Type.Optional(Type.Unknown()),
    nullable: Maybe(Type.String()),
    clearable: Maybe(Type.Union([Type.String(), Type.Literal('')])),
    mode: Type.Optional(Type.Enum(['', 'fast'])),
    values: Maybe(Type.Record(Type.String(), Type.String())),
    open: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    inner: Type.Optional(Inner),
    list: Type.Optional(Type.Array(Inner)),
    either: Type.Optional(Type.Union([Inner, Type.Array(Inner), Type.String()])),
  }),
)

function cleaned(value: unknown): unknown {
  dropNotGiven(value)
  return value
}

describe('what is not given', () => {
  it.each([
    ['an optional field that is empty', { text: '', count: '', anything: '', nullable: '', inner: '', list: '' }, {}],
    ['an optional field that is null', { text: null, count: null, anything: null, inner: null, list: null }, {}],
    ['an optional object that is an empty list', { values: [], open: [], inner: [], either: [] }, {}],
    ['a field of an object', { inner: { id: 'a', note: null } }, { inner: { id: 'a' } }],
    ['a field of an item', { list: [{ id: '', note: '' }, 7, null] }, { list: [{ id: '' }, 7, null] }],
    ['a field of one of several forms', { either: [{ id: 'a', note: '' }] }, { either: [{ id: 'a' }] }],
    ['a named value that is null', { values: { a: null, b: '' } }, { values: { b: '' } }],
  ])('is removed: %s', (_what, value, left) => {
    expect(cleaned(value)).toEqual(left)
  })

  it.each([
    ['a required field', { name: '', place: null }],
    ['null where the schema names it', { nullable: null, clearable: null, values: null }],
    ['an empty text where the schema names it', { clearable: '', mode: '' }],
    ['an unknown field', { other: '', another: null, third: [] }],
    ['a list that is empty', { list: [] }],
    ['anything in an open object', { open: { a: null } }],
    ['a value of a wrong type', { list: 'x', inner: 7, values: ['x'], text: {} }],
    ['no object', 'text'],
    ['nothing', null],
    ['a list', [{ text: '' }]],
  ])('does not include %s', (_what, value) => {
    expect(cleaned(structuredClone(value))).toEqual(value)
  })

  it('becomes an empty object if it is a required object', () => {
    expect(cleaned({ place: [] })).toEqual({ place: {} })
  })
})
