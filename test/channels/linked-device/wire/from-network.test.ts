import { describe, expect, it } from 'vitest'
import { identify, readNetworkEvent } from '../../../../src/channels/linked-device/wire/from-network.js'

const JID = '5511888887777@s.whatsapp.net'
const OURS = '019A1B2C3D4E7F008A1B2C3D4E5F6071'
const OWN = ['5511999990000@s.whatsapp.net', '99@lid']

function upsert(key: object, message: object | null, more: object = {}) {
  const info = { key: { remoteJid: JID, fromMe: false, id: 'A', ...key }, message, messageTimestamp: 1_700_000_000 }
  return readNetworkEvent('messages.upsert', { messages: [{ ...info, ...more }] }, OWN)
}

describe('data of the network', () => {
  it('becomes JSON: bytes as Base64, big numbers as numbers, unset fields left out', () => {
    const long = { low: -1, high: 1, unsigned: true }
    const message = { imageMessage: { mediaKey: Uint8Array.from([1, 2]), fileLength: long, caption: null } }
    expect(upsert({}, message, { messageTimestamp: { low: 5, high: 0, unsigned: true }, pushName: 'Ana' })).toEqual([
      {
        type: 'message',
        key: { remoteJid: JID, fromMe: false, id: 'A' },
        chat: { jid: JID, phone: '5511888887777', lid: null, name: null },
        sender: null,
        pushName: 'Ana',
        timestamp: 5,
        message: { imageMessage: { mediaKey: 'AQI=', fileLength: 8589934591 } },
      },
    ])
  })

  it('names people by number and hidden address, without their devices', () => {
    const [event] = upsert(
      { remoteJid: '77:3@lid', remoteJidAlt: '5511888887777:1@s.whatsapp.net' },
      { conversation: 'x' },
    )
    expect(event?.chat).toEqual({ jid: '77@lid', phone: '5511888887777', lid: '77@lid', name: null })
  })

  it('names the sender in a group, and the group', async () => {
    const [event] = upsert({ remoteJid: '1@g.us', participant: '77@lid', participantAlt: JID }, { conversation: 'x' })
    expect(event).toMatchObject({ key: { participant: '77@lid' }, sender: { phone: '5511888887777', lid: '77@lid' } })
    const directory = { findPhone: async () => null, findSubject: async () => 'Family' }
    expect(event && (await identify(event, directory)).chat).toEqual({
      jid: '1@g.us',
      phone: null,
      lid: null,
      name: 'Family',
    })
  })

  it('does not take the writer of a message typed on the phone for the chat', () => {
    const [event] = upsert({ remoteJid: '77@lid', remoteJidAlt: OWN[0], fromMe: true }, { conversation: 'x' })
    expect(event).toMatchObject({ type: 'message', key: { fromMe: true }, chat: { phone: null, lid: '77@lid' } })
  })

  it('is kept in full if the message may be ours, because phones create such ids too', () => {
    expect(upsert({ fromMe: true, id: OURS }, { conversation: 'x' })).toMatchObject([
      { type: 'message', key: { id: OURS }, message: { conversation: 'x' } },
    ])
  })

  it.each([
    ['what could not be decrypted', {}, null],
    ['keys of a group', {}, { senderKeyDistributionMessage: {}, messageContextInfo: {} }],
    ['history', {}, { protocolMessage: { type: 5, historySyncNotification: {} } }],
    ['posts of a status', { remoteJid: 'status@broadcast' }, { conversation: 'x' }],
    ['channels', { remoteJid: '1@newsletter' }, { conversation: 'x' }],
  ])('leaves out %s', (_, key, message) => {
    expect(upsert(key, message)).toEqual([])
  })

  it('keeps revocations and edits', () => {
    expect(upsert({}, { protocolMessage: { type: 0, key: { id: 'B' } } })).toHaveLength(1)
    expect(upsert({}, { protocolMessage: { type: 14, key: { id: 'B' }, editedMessage: {} } })).toHaveLength(1)
  })

  it.each([
    [0, 'failed'],
    [2, 'sent'],
    [3, 'delivered'],
    [4, 'read'],
    [5, 'read'],
  ])('maps status %i to %s', (status, expected) => {
    const update = { status, messageStubParameters: ['463'] }
    const updates = [{ key: { remoteJid: JID, fromMe: true, id: OURS }, update }]
    expect(readNetworkEvent('messages.update', updates, OWN)).toMatchObject([
      { type: 'status', status: expected, code: status === 0 ? '463' : null },
    ])
  })

  it("reads the receipts of a group, except those for messages of others and of the owner's own phone", () => {
    const key = { remoteJid: '1@g.us', fromMe: true, id: OURS, participant: '77@lid' }
    const updates: object[] = [
      { key, receipt: { userJid: '77@lid', receiptTimestamp: 5 } },
      { key, receipt: { readTimestamp: { low: 6, high: 0, unsigned: true } } },
      { key: { ...key, fromMe: false }, receipt: { readTimestamp: 7 } },
    ]
    for (const userJid of ['5511999990000:3@s.whatsapp.net', '99@lid']) {
      updates.push({ key, receipt: { userJid, readTimestamp: 8 } })
    }
    expect(readNetworkEvent('message-receipt.update', updates, OWN)).toMatchObject([
      { status: 'delivered', timestamp: 5 },
      { status: 'read', timestamp: 6 },
    ])
    expect(
      readNetworkEvent('messages.update', [{ key: { ...key, fromMe: false }, update: { status: 4 } }], OWN),
    ).toEqual([])
  })
})
