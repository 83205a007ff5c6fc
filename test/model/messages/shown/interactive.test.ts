import { expect, it } from 'vitest'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'

const filled = (response_json: unknown, name = 'flow') =>
  presentContent({
    message_type: 'interactive',
    sender_type: 'user-chat',
    text: 'Sent',
    content: { type: 'nfm_reply', nfm_reply: { name, body: 'Sent', response_json } },
    extras: null,
    context_upstream_id: null,
  })
const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`
const long = JSON.stringify({ a: 'x'.repeat(70_000) })

it.each([
  ['too long', long],
  ['too deep', deep],
])('a filled form that is %s says so', (_, json) => {
  expect(filled(json)).toMatchObject({ flow: null, flow_text: json.slice(0, 4_096), truncated: true })
  expect(filled(json, 'address_message')).toMatchObject({ type: 'address', values: {}, truncated: true })
})

it('a filled form that is too deep and no text says so', () => {
  const shown = filled(JSON.parse(deep))
  expect(shown).toMatchObject({ flow: null, truncated: true })
  expect(shown).not.toHaveProperty('flow_text')
})

it.each([
  ['no JSON', { flow: null, flow_text: 'no JSON' }],
  ['{"day":"Friday"}', { flow: { day: 'Friday' } }],
  ['["a"]', { flow: ['a'] }],
])('an answer that is shown whole is not truncated: %s', (json, shown) => {
  expect(filled(json)).toMatchObject(shown)
  expect(filled(json)).not.toHaveProperty('truncated')
})
