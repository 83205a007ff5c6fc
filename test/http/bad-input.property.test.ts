import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../support/endpoints.js'
import { TIMES } from '../support/times.js'
import { type Answer, useWorld } from '../support/world.js'

const world = useWorld()
let key: string
let id: string

beforeAll(async () => {
  const organization = await world.createOrganization()
  key = organization.key
  id = organization.id
})

const FIELDS = [
  ...['phone_number', 'chat_id', 'full_name', 'email', 'tags', 'allow_broadcast', 'source', 'archived', 'blocked'],
  ...['bot_status', 'contact_summary', 'message_type', 'text', 'context_message_id', 'memberId', '__proto__'],
  ...['name', 'slug', 'provider', 'timezone', 'currency', 'language', 'default_country', 'scopes', 'expires_at'],
  ...['role', 'password', 'messages_per_second', 'pair_limit', 'url', 'access_token', 'overlap_seconds', 'type'],
]
const PARAMETERS = [
  'phone_number',
  'chat_id',
  'tenantId',
  'chatNumber',
  'contactId',
  'limit',
  'page',
  'ascending',
  'action',
]

/** Problematic characters: controls, halves of surrogate pairs, combining marks, other digits, and plain ones. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(...'0123456789+- ()٣５\u0000\ud800'), maxLength: 20 }),
  fc.constantFrom('5511987654321', '+5511987654321', 'text', 'true', '1', '-0', '1e400', 'NaN', '', '\u202e', '%00'),
)
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 6 }), fc.double(), fc.boolean(), fc.constant(null))
const fields = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), text), value, { maxKeys: 12 })
const body = fc.oneof({ weight: 4, arbitrary: fields }, { weight: 1, arbitrary: value })
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...PARAMETERS), text), text), { maxLength: 6 })

/** Percent-encoded if possible, otherwise unchanged, except for characters that no client can send. */
function encode(part: string): string {
  return part.isWellFormed() ? encodeURIComponent(part) : part.replace(/[^\w%=&+-]/g, '%')
}

const encodeQuery = (pairs: [string, string][]) => pairs.map((pair) => pair.map(encode).join('=')).join('&')

function expectSound(answer: Answer): void {
  expect(answer.status).toBeLessThan(500)
  if (answer.status < 400) return
  expect(answer.body.success).toBe(false)
  expect(answer.body.error).toMatch(/./)
  expect(answer.body.message).toMatch(/./)
  if (answer.body.error === 'Invalid field' || answer.body.error === 'Missing required field') {
    expect(answer.body.message).toMatch(/^(\S+|\[".*"\]) .+|nests deeper/s)
  }
}

const CALLS = [
  ...ENDPOINTS.map(({ method, path, body }) => ({ method, path, token: () => key, takesBody: body !== undefined })),
  ...(
    [
      ['POST', ''],
      ['GET', ''],
      ['GET', '/:id'],
      ['PATCH', '/:id'],
      ['PUT', '/:id/upstream'],
      ['PUT', '/:id/storefront'],
      ['POST', '/:id/keys'],
      ['POST', '/:id/members'],
    ] as const
  ).map(([method, path]) => ({
    method,
    path: `/admin/organizations${path}`,
    token: () => world.adminToken,
    takesBody: method !== 'GET',
  })),
]

describe.each(CALLS.map((call) => ({ ...call, name: `${call.method} ${call.path}` })))('$name', (call) => {
  it('answers any input without an internal error', async () => {
    await fc.assert(
      fc.asyncProperty(query, body, fc.option(text), async (pairs, given, idempotencyKey) => {
        const printable = idempotencyKey?.replace(/[^ -~]/g, 'x')
        const answer = await world.request(call.method, `${call.path.replace(':id', id)}?${encodeQuery(pairs)}`, {
          key: call.token(),
          body: call.takesBody ? JSON.stringify(given) : undefined,
          headers: printable === undefined ? {} : { 'idempotency-key': printable },
        })
        expectSound(answer)
      }),
      { numRuns: 35 * TIMES },
    )
  })
})

describe('any text as a phone number', () => {
  it('finds no contact, is refused, or finds the contact created with it', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (number) => {
        const made = await world.request('POST', '/contact', { key, body: { phone_number: number } })
        expectSound(made)
        const found = await world.request('GET', `/contact?phone_number=${encode(number)}`, { key })
        expectSound(found)
        const contactId = made.body.contact?.id ?? made.body.id
        expect(found.body.contact?.id).toBe(contactId)
      }),
      { numRuns: 100 * TIMES },
    )
  })
})
