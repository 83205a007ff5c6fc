import { describe, expect, it } from 'vitest'
import { compileSchema, findInputProblem } from '../../src/model/input.js'

const text = { type: 'string', maxLength: 3 }
const schema = {
  type: 'object',
  properties: {
    parameters: { type: 'object', additionalProperties: text },
    rows: { type: 'array', items: { type: 'object', additionalProperties: text } },
  },
  additionalProperties: text,
}

describe('errors of an input name the path of the field', () => {
  it.each([
    [{ parameters: { 2: 'long' } }, 'parameters.2'],
    [{ parameters: { 'a/b~c': 'long' } }, 'parameters.a/b~c'],
    [{ rows: [{}, { name: 'long' }] }, 'rows[1].name'],
    [{ rows: [{ 0: 'long' }] }, 'rows[0].0'],
    [{ 7: 'long' }, '7'],
  ])('%j: %s', (data, path) => {
    expect(findInputProblem(compileSchema(schema), schema, data, 'The body')).toMatchObject({
      code: 'invalid_field',
      message: `${path} must have at most 3 characters`,
    })
  })
})
