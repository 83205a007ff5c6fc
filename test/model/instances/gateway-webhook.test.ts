import { describe, expect, it } from 'vitest'
import { checkHeaders, readGatewayEvents } from '../../../src/model/instances/gateway-webhook.js'
import { Problem } from '../../../src/model/problem.js'

function refusalOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('the events of an instance', () => {
  it('are accepted in any spelling, each counted once', () => {
    const given = ['messages.upsert', 'MESSAGES_UPSERT', 'Send-Message', 'connection_update']
    expect(readGatewayEvents(given)).toEqual(['MESSAGES_UPSERT', 'SEND_MESSAGE', 'CONNECTION_UPDATE'])
  })

  it('are all events if none is named', () => {
    expect(readGatewayEvents([])).toEqual(['*'])
  })

  it('are refused with the unknown names', () => {
    const refusal = refusalOf(() => readGatewayEvents(['MESSAGES_UPSERT', 'MESSAGE_UPSERT', '*']))
    expect(refusal.code).toBe('invalid_field')
    expect(refusal.message).toContain('there is no "MESSAGE_UPSERT", "*"')
  })
})

describe('additional headers', () => {
  it('are accepted if they are plain', () => {
    const headers = { Authorization: 'Bearer x', 'X-Tenant': '', 'content-type': 'application/json', jwt_key: 'ключ' }
    expect(() => checkHeaders(headers)).not.toThrow()
  })

  it.each([
    ['a line break', { 'X-A': 'one\r\nX-B: two' }],
    ['a letter beyond ASCII', { 'X-A': 'é' }],
    ['a name with a colon', { 'X:A': 'one' }],
    ['a name without letters', { '': 'one' }],
    ['a name that is too long', { [`x-${'a'.repeat(99)}`]: 'one' }],
    ['a value that is too long', { 'x-a': 'a'.repeat(4_097) }],
    ['one name twice', { 'X-A': '1', 'x-a': '2' }],
    ['more than 20', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, '1']))],
    ...['Host', 'Content-Length', 'Transfer-Encoding', 'connection', 'Expect', 'TE', 'Webhook-Signature'].map(
      (name): [string, Record<string, string>] => [name, { [name]: '1' }],
    ),
  ])('are refused for %s', (_, headers) => {
    expect(refusalOf(() => checkHeaders(headers as Record<string, string>)).code).toBe('invalid_field')
  })
})
