import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../src/model/contacts/phone-number.js'
import { addressesOf, readGatewayNumber } from '../../../src/model/instances/gateway-number.js'

const read = (text: string) => readGatewayNumber(text, 'BR')
const person = (digits: string) => expect.objectContaining({ kind: 'person', digits })

describe('readGatewayNumber', () => {
  it.each([
    '5511988887777',
    '+55 (11) 98888-7777',
    '5511988887777@s.whatsapp.net',
    '5511988887777:12@s.whatsapp.net',
    '5511988887777@c.us',
    '551188887777@s.whatsapp.net',
    '11988887777',
  ])('reads %s as one person', (text) => {
    expect(read(text)).toEqual(person('5511988887777'))
  })

  it('reads the digits of a JID with their country code', () => {
    expect(read('1198888777@s.whatsapp.net')).not.toEqual(person('551198888777'))
  })

  it.each([
    ['120363041234567890@g.us', '120363041234567890@g.us'],
    ['120363041234567890', '120363041234567890@g.us'],
    ['5511988887777-1400000000@g.us', '5511988887777-1400000000@g.us'],
    ['5511988887777-1400000000', '5511988887777-1400000000@g.us'],
  ])('reads %s as a group', (text, jid) => {
    expect(read(text)).toEqual({ kind: 'group', jid })
  })

  it('reads ids of people who hide their number or have none', () => {
    expect(read('987654321098765@lid')).toEqual({ kind: 'lid', jid: '987654321098765@lid' })
    const chatId = userIdChatId('BR.1234')
    expect(read(`${chatId}@lid`)).toEqual({ kind: 'person', digits: chatId, forms: [chatId] })
    expect(read(chatId)).toEqual({ kind: 'person', digits: chatId, forms: [chatId] })
  })

  it.each(['', 'nobody', 'status@broadcast', '12', '5511988887777@example.com', '1'.repeat(100)])(
    'refuses %s',
    (text) => {
      expect(read(text)).toBeNull()
    },
  )
})

describe('addressesOf', () => {
  it('returns the forms of a number, or the two ids of a person without a number', () => {
    expect(addressesOf({ kind: 'person', digits: '1', forms: ['1', '2'] })).toEqual(['1', '2'])
    expect(addressesOf({ kind: 'lid', jid: '1@lid' })).toEqual(['user:1@lid', userIdChatId('1@lid')])
  })
})
