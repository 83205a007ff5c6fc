import { expect, it } from 'vitest'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'

const rawOf = (content: unknown, message_type = 'hologram') =>
  presentContent({
    message_type,
    sender_type: 'user-chat',
    text: '[unsupported]',
    content,
    extras: null,
    context_upstream_id: null,
  })

it.each([[{ a: [1, { b: null }] }], [[{ code: 1 }]], ['a text'], [7], [null]])('any JSON is shown: %j', (content) => {
  expect(rawOf(content)).toEqual({ type: 'other', name: 'hologram', raw: content })
})

it('what is too long or nested too deep is not shown', () => {
  expect(rawOf('x'.repeat(20_000))).toMatchObject({ raw: null })
  expect(rawOf(JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`))).toMatchObject({ raw: null })
})

it('where a file is, is left out, at any depth', () => {
  const file = { id: '7', mime_type: 'model/gltf', sha256: 'hash', url: 'https://files.example', name: 'cube' }
  const shown = { mime_type: 'model/gltf', name: 'cube' }
  expect(rawOf({ id: 'scene', parts: [file] })).toMatchObject({ raw: { id: 'scene', parts: [shown] } })
  expect(rawOf(file)).toMatchObject({ raw: shown })
  expect(JSON.stringify(rawOf(file))).not.toContain('files.example')
})

it.each(['unsupported', 'unknown', 'interactive'])('errors in place of content are errors: %s', (type) => {
  const errors = [{ code: 131051, title: 'Not supported', details: null }]
  expect(rawOf(errors, type)).toMatchObject({ type: 'unsupported', errors })
})

it('a list of another kind is not taken for errors', () => {
  expect(rawOf([{ title: 'One' }])).not.toHaveProperty('errors')
})
