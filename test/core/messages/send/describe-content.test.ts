import { expect, it } from 'vitest'
import { describeContent } from '../../../../src/core/messages/send/describe-content.js'
import type { FilledTemplate } from '../../../../src/model/messages/content.js'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'

type Sent = Parameters<typeof describeContent>[0]

function shownOf(message: Sent) {
  const { text, content } = describeContent(message)
  const row = { message_type: 'template', sender_type: 'bot-chat', extras: null, context_upstream_id: null }
  return presentContent({ ...row, text, content })
}

it("a template in the upstream's format shows all values that are texts, and no body", () => {
  const currency = { fallback_value: '$ 7.99', code: 'USD', amount_1000: 7_990 }
  const shown = shownOf({
    type: 'raw_template',
    name: 'offer',
    language: 'en_US',
    text: 'offer',
    components: [
      { type: 'header', parameters: [{ type: 'image', image: { id: '7' } }] },
      {
        type: 'BODY',
        parameters: [
          { type: 'text', parameter_name: 'who', text: 'Ana' },
          { type: 'currency', currency },
          { type: 'date_time', date_time: { fallback_value: 'Friday' } },
        ],
      },
      { type: 'button', sub_type: 'copy_code', index: 0, parameters: [{ type: 'coupon_code', coupon_code: 'MUGS25' }] },
      { type: 'button', sub_type: 'quick_reply', index: '1', parameters: [{ type: 'payload', payload: 'stop' }] },
    ],
  })
  const inBody = { component: 'body', index: null, name: null }
  expect(shown).toMatchObject({
    body: null,
    parameters: [
      { ...inBody, name: 'who', text: 'Ana' },
      { ...inBody, text: '$ 7.99' },
      { ...inBody, text: 'Friday' },
      { component: 'button', index: 0, name: null, text: 'MUGS25' },
      { component: 'button', index: 1, name: null, text: 'stop' },
    ],
  })
})

it('a filled template shows the place of its header, and which button a value is of', () => {
  const template: FilledTemplate = {
    name: 'visit',
    language: 'en_US',
    header: { type: 'location', latitude: '51.5', longitude: '-0.12', name: 'Shop', address: '1 Example Square' },
    body: { text: 'Come, Ana!', parameters: [{ name: null, text: 'Ana' }] },
    footer: null,
    buttons: [
      { index: 0, kind: 'quick_reply', text: 'Stop', parameter: null },
      { index: 1, kind: 'url', text: 'Open', parameter: 'ana' },
    ],
  }
  expect(shownOf({ type: 'template', template, header: null })).toMatchObject({
    location: { latitude: 51.5, longitude: -0.12, name: 'Shop', address: '1 Example Square' },
    body: 'Come, Ana!',
    parameters: [
      { component: 'body', index: null, name: null, text: 'Ana' },
      { component: 'button', index: 1, name: null, text: 'ana' },
    ],
  })
})
