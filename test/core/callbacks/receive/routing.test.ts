import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { namedIds, readChanges, scanIds } from '../../../../src/core/callbacks/receive/routing.js'

function changeOf(phoneNumberId: unknown) {
  return { field: 'messages', value: { metadata: { phone_number_id: phoneNumberId } } }
}

describe('the ids in a callback', () => {
  const envelope = {
    entry: [
      { id: 'account 1', changes: [changeOf('number 1'), {}, changeOf('number 1')] },
      { id: 'account 2', changes: [changeOf('number 2'), {}] },
      { id: 7, changes: [{}] },
    ],
  }

  it('are those of its changes, each listed once with a count', () => {
    expect(namedIds(readChanges(envelope), 10)).toEqual([
      { kind: 'phone_number_id', value: 'number 1', changes: 2 },
      { kind: 'business_account_id', value: 'account 1', changes: 1 },
      { kind: 'phone_number_id', value: 'number 2', changes: 1 },
      { kind: 'business_account_id', value: 'account 2', changes: 1 },
    ])
  })

  it('are found without parsing, phone numbers first', async () => {
    for (const text of [JSON.stringify(envelope), JSON.stringify(envelope, null, 2)]) {
      expect(await scanIds(Buffer.from(text), 3)).toEqual([
        { kind: 'phone_number_id', value: 'number 1', changes: 2 },
        { kind: 'phone_number_id', value: 'number 2', changes: 1 },
        { kind: 'business_account_id', value: 'account 1', changes: 1 },
      ])
    }
  })

  it('are limited in number and length', async () => {
    const many = { entry: Array.from({ length: 300 }, (_, index) => ({ id: `account ${index}`, changes: [{}] })) }
    expect(namedIds(readChanges(many), 100)).toHaveLength(100)
    expect(await scanIds(Buffer.from(JSON.stringify(many)), 100)).toHaveLength(100)
    const odd = { entry: [{ id: 'x'.repeat(257), changes: [{}, changeOf('a\0b'), changeOf('\ud800')] }] }
    expect(namedIds(readChanges(odd), 100)).toEqual([])
    expect(await scanIds(Buffer.from(JSON.stringify(odd)), 100)).toEqual([])
  })

  it('may have letters of any language', async () => {
    const ids = await scanIds(Buffer.from('{"id":"conta é 1"}'), 3)
    expect(ids).toEqual([{ kind: 'business_account_id', value: 'conta é 1', changes: 1 }])
  })

  it('are looked for in 10,000 places of an unparsed text', async () => {
    expect(await scanIds(Buffer.from('"id":"x"'.repeat(20_000)), 100)).toEqual([
      { kind: 'business_account_id', value: 'x', changes: 10_000 },
    ])
  })

  it("are never taken from a customer's text", async () => {
    const text = JSON.stringify({ text: { body: '{"phone_number_id":"number 1","id":"account 1"}' } })
    expect(await scanIds(Buffer.from(text), 100)).toEqual([])
  })
})

describe('a change that names its owner elsewhere, as published', () => {
  const read = (name: string): object =>
    JSON.parse(readFileSync(new URL(`../../../samples/doc-${name}.json`, import.meta.url), 'utf8'))

  it.each([
    ['handover-passed', { kind: 'phone_number_id', value: '109900000000001' }],
    ['account-settings', { kind: 'phone_number_id', value: '109900000000001' }],
    ['account-partner-removed', { kind: 'business_account_id', value: '209900000000001' }],
    ['account-restriction', { kind: 'business_account_id', value: '209900000000001' }],
  ])('%s belongs to %j', (name, id) => {
    expect(namedIds(readChanges(read(name) as Record<string, unknown>), 10)).toEqual([{ ...id, changes: 1 }])
  })

  it('is found if the name of the field is in another place, as two published examples have it', () => {
    const value = { field: 'account_update', event: 'PARTNER_APP_UNINSTALLED', waba_info: { waba_id: 'account 1' } }
    expect(namedIds(readChanges({ entry: [{ id: 'portfolio', changes: [{ value }] }] }), 10)).toEqual([
      { kind: 'business_account_id', value: 'account 1', changes: 1 },
    ])
  })

  it('does not count in another field, or with a value of another type', () => {
    const changes = [
      { field: 'messages', value: { recipient: { phone_number_id: 'number 1' }, waba_info: { waba_id: 'account 1' } } },
      { field: 'account_update', value: { waba_info: { waba_id: 7 } } },
      { field: 'messaging_handovers', value: { recipient: null } },
    ]
    expect(namedIds(readChanges({ entry: [{ id: 'account 2', changes }] }), 10)).toEqual([
      { kind: 'business_account_id', value: 'account 2', changes: 3 },
    ])
  })
})
