import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { newWebhookSecret, readWebhookSecret, signWebhook } from '../../../src/lib/crypto/standard-webhooks.js'

const published = JSON.parse(readFileSync('test/samples/standard-webhooks.json', 'utf8'))
const body = JSON.stringify({ type: 'message.received', data: { text: 'Olá, 你好 👋' } })

it('signs the published example with the published signature', () => {
  const { secret, body, ...headers } = published
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1_000)
  expect(signWebhook([secret], { id: headers['webhook-id'], timestamp, body })).toEqual(headers)
})

it('creates signatures that the reference library accepts for exactly this body, id and secret', () => {
  const secret = newWebhookSecret()
  const headers = signWebhook([secret], { id: 'event-1', timestamp: new Date(), body })
  const webhook = new Webhook(secret)
  expect(webhook.verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => webhook.verify(`${body} `, headers)).toThrow('No matching signature')
  expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'event-2' })).toThrow('No matching signature')
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow('No matching signature')
})

it('signs with each of several secrets', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()]
  const headers = signWebhook(secrets, { id: 'event-1', timestamp: new Date(), body })
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/)
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
})

it('uses whole seconds', () => {
  const at = (timestamp: string) => signWebhook([], { id: '1', timestamp: new Date(timestamp), body })
  expect(at('2026-01-02T03:04:05.999Z')['webhook-timestamp']).toBe('1767323045')
})

it('creates a new secret of 32 bytes each time', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(readWebhookSecret(secret)).toBe(secret)
  }
})

it.each([24, 25, 26, 64])('reads a secret of %i bytes, with or without prefix and padding', (size) => {
  const base64 = randomBytes(size).toString('base64')
  const secret = `whsec_${base64}`
  for (const text of [secret, base64, secret.replace(/=+$/, ''), base64.replace(/=+$/, '')]) {
    expect(readWebhookSecret(text)).toBe(secret)
  }
})

const valid = Buffer.alloc(25, 'a').toString('base64')
it.each([
  ['an empty text', ''],
  ['the prefix alone', 'whsec_'],
  ['23 bytes', Buffer.alloc(23).toString('base64')],
  ['65 bytes', Buffer.alloc(65).toString('base64')],
  ['the prefix twice', `whsec_whsec_${valid}`],
  ['another prefix', `whsk_${valid}`],
  ['a space', `${valid} `],
  ['a line break', `${valid.slice(0, 8)}\n${valid.slice(8)}`],
  ['letters of base64url', Buffer.alloc(24, 0xff).toString('base64url')],
  ['too much padding', `${valid}=`],
  ['a last letter that has bits to spare', valid.replace('Q==', 'R==')],
  ['text that is not base64', 'a secret that a person made up'],
])('refuses the secret %s', (_what, text) => {
  expect(readWebhookSecret(text)).toBeNull()
})
