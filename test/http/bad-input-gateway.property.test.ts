import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { startMessageWorld } from '../support/gateway-messages.js'
import { useStarted } from '../support/started.js'
import type { Answer } from '../support/world.js'

const on = useStarted(startMessageWorld)
let paths: string[]

beforeAll(async () => {
  const description = (await on.world.request('GET', '/gateway/openapi.json')).body
  paths = Object.keys(description.paths).filter((path) => description.paths[path].post?.requestBody)
})

/** Enough of every endpoint's fields to pass its first checks, without `delay`, which only takes time. */
const SOUND = {
  ...{ instanceName: 'another', integration: 'SANDBOX', token: null, qrcode: false, events: [], webhook: { url: '' } },
  ...{ number: '16505551234', numbers: ['16505551234'], text: 'x', textMessage: { text: 'x' }, mentioned: ['1'] },
  ...{
    mediatype: 'image',
    media: 'aGVsbG8=',
    audio: 'aGVsbG8=',
    video: 'aGVsbG8=',
    sticker: 'aGVsbG8=',
    fileName: 'a',
  },
  ...{ latitude: 1, longitude: 1, name: 'a', address: 'b', contact: [{ fullName: 'Ana', phoneNumber: '16505551234' }] },
  ...{ key: { id: 'a', remoteJid: '16505551234', fromMe: true }, reaction: '👍', quoted: { key: { id: 'a' } } },
  ...{ selectableCount: 1, values: ['a', 'b'], title: 'a', description: 'b', buttonText: 'c', language: 'en_US' },
  ...{ sections: [{ title: 'a', rows: [{ title: 'b', rowId: 'c' }] }], buttons: [{ displayText: 'a', id: 'b' }] },
  ...{ readMessages: [{ id: 'a' }], lastMessage: { key: { id: 'a' } }, chat: '16505551234', archive: true, id: 'a' },
  ...{ presence: 'composing', where: { key: {}, remoteJid: '16505551234' }, offset: 1, page: 1, take: 1, skip: 0 },
  ...{ message: { key: { id: 'a' } }, options: { mentions: {} }, components: [{}], enabled: false, url: '' },
}
const NAMES = Object.keys(SOUND)

/** Problematic characters: controls, halves of surrogate pairs, combining marks, other digits, and plain ones. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(...'0123456789+-@.gus ()٣５\u0000\ud800'), maxLength: 20 }),
  fc.constantFrom('+16505551234', '120363041234567890@g.us', '1@lid', '@s.whatsapp.net', 'true', '1e400', '', '\u202e'),
)
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 4 }), fc.double(), fc.boolean(), fc.constant(null))
/** Valid except for a few fields, or a part of one. */
const flawed = fc
  .tuple(fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 3 }), fc.constantFrom(...NAMES), text, value)
  .map(([fields, name, part, junk]) => ({
    ...SOUND,
    [name]: spoil(SOUND[name as keyof typeof SOUND], part, junk),
    ...fields,
  }))
const body = fc.oneof({ weight: 4, arbitrary: flawed }, { weight: 1, arbitrary: value })

function spoil(sound: unknown, part: string, junk: unknown): unknown {
  if (Array.isArray(sound)) return [...sound.map((one) => spoil(one, part, junk)), junk]
  if (typeof sound !== 'object' || sound === null) return junk
  const [name = part] = Object.keys(sound)
  return { ...sound, [name]: junk, [part]: junk }
}

/** A function that a kind of instance lacks is not an internal error. */
const NOT_SUPPORTED = 501

function expectSound(path: string, { status, body: answer }: Answer): void {
  expect({ path, status, sound: status < 500 || status === NOT_SUPPORTED, answer }).toMatchObject({ sound: true })
  if (status < 400) return
  const message = status === 401 ? 'Unauthorized' : expect.any(Array)
  expect(answer).toEqual({ status, error: expect.stringMatching(/./), response: expect.objectContaining({ message }) })
  for (const one of answer.response.message.flat()) expect(one).toBeTruthy()
}

it('the gateway answers any body without an internal error, in its own error format', async () => {
  expect(paths.length).toBeGreaterThan(20)
  const instances = fc.constantFrom('phone', 'shop')
  for (const path of paths) {
    const property = fc.asyncProperty(instances, body, async (instance, given) => {
      const url = path.replace('{instance}', instance)
      const options = { key: on.organization.key, body: JSON.stringify(given) }
      expectSound(url, await on.world.request('POST', url, options))
    })
    await fc.assert(property, { numRuns: 6 })
  }
})
