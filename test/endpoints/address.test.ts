import type { LookupFunction } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createEndpointClient, type EndpointClient } from '../../src/endpoints/client.js'
import { createAddressGuard } from '../../src/lib/http/address-guard.js'
import { json } from '../support/http-server.js'
import { call, nameServer, startServer } from './support.js'

function clientFor(allowed: string[] = [], lookup?: LookupFunction): EndpointClient {
  const client = createEndpointClient({ guard: createAddressGuard(allowed, lookup) })
  onTestFinished(() => client.close())
  return client
}

const NEVER = new AbortController().signal

describe('URLs that lead to private addresses, in any notation', () => {
  it.each([
    ['http://127.0.0.1/', '127.0.0.1'],
    ['https://127.0.0.1:8443/hook?a=b', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f000001/', '127.0.0.1'],
    ['http://0x7f.0.0.1/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://127.0.0.1./', '127.0.0.1'],
    ['http://１２７.０.０.１/', '127.0.0.1'],
    ['http://%31%32%37.0.0.1/', '127.0.0.1'],
    ['http:127.0.0.1', '127.0.0.1'],
    ['http:\\\\127.0.0.1\\hook', '127.0.0.1'],
    ['http://0/', '0.0.0.0'],
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254'],
    ['http://10.0.0.1/', '10.0.0.1'],
    ['http://192.168.0.1/', '192.168.0.1'],
    ['http://100.64.0.1/', '100.64.0.1'],
    ['http://[::1]/', '::1'],
    ['http://[::]/', '::'],
    ['http://[0:0:0:0:0:0:0:1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://[::ffff:0a00:0001]/', '::ffff:a00:1'],
    ['http://[64:ff9b::10.0.0.1]/', '64:ff9b::a00:1'],
    ['http://[fd00::1]/', 'fd00::1'],
    ['http://[fe80::1]/', 'fe80::1'],
  ])('are refused: %s', async (url, address) => {
    const text = `its address ${address} is private: webhooks are sent to public addresses only`
    const client = clientFor()
    expect(await client.check(url)).toBe(text)
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null, error: text })
  })

  it.each(['http://localhost/', 'https://LOCALHOST:8443/'])('are refused when resolved: %s', async (url) => {
    const text = expect.stringMatching(/^its address (127\.0\.0\.1|::1) is private: /)
    const client = clientFor()
    expect(await client.check(url)).toEqual(text)
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null, error: text })
  })
})

it('a local name with a trailing dot is not called, whether or not it resolves', async () => {
  expect(await clientFor().post(call('http://localhost./'), NEVER)).toMatchObject({ outcome: 'failed', status: null })
})

it.each([
  ['', 'the URL is not valid'],
  ['hooks.example.com/a', 'the URL is not valid'],
  ['http://', 'the URL is not valid'],
  ['http://300.1.1.1/', 'the URL is not valid'],
  ['http://[fe80::1%25eth0]/', 'the URL is not valid'],
  ['http://host:99999/', 'the URL is not valid'],
  ['\thttp://8.8.8.8/', 'the URL contains white space or control characters'],
  ['http://8.8.8.8/ ', 'the URL contains white space or control characters'],
  ['http://8.8.8.8/a\u2003b', 'the URL contains white space or control characters'],
  ['http://8.8.8.8/\u0000', 'the URL contains white space or control characters'],
  ['ftp://8.8.8.8/', 'the URL begins with neither http:// nor https://'],
  ['file:///etc/passwd', 'the URL begins with neither http:// nor https://'],
  ['javascript:alert(1)', 'the URL begins with neither http:// nor https://'],
  ['http://8.8.8.8@127.0.0.1/', 'the URL contains a user name or password'],
  ['http://user:password@8.8.8.8/', 'the URL contains a user name or password'],
  ['http://:password@8.8.8.8/', 'the URL contains a user name or password'],
])('the URL "%s" is not an endpoint', async (url, text) => {
  const client = clientFor()
  expect(await client.check(url)).toBe(text)
  expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null, error: text })
})

describe('the check of an endpoint', () => {
  it.each(['http://8.8.8.8/', 'https://[2606:4700::1111]:8443/hook'])('accepts %s', async (url) => {
    expect(await clientFor().check(url)).toBeNull()
  })

  it('accepts a name with a public address among others', async () => {
    expect(await clientFor([], nameServer(['10.0.0.1', '8.8.8.8'])).check('https://two.test/')).toBeNull()
    expect(await clientFor([], nameServer(['10.0.0.1', '::1'])).check('https://two.test/')).toContain('10.0.0.1')
  })

  it('accepts a name that cannot be resolved right now', async () => {
    expect(await clientFor([], nameServer([])).check('https://none.test/')).toBeNull()
    const failing: LookupFunction = (_host, _options, callback) => callback(new Error('EAI_AGAIN'), [])
    expect(await clientFor([], failing).check('https://none.test/')).toBeNull()
  })

  it('accepts a name that does not resolve within 3 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const answer = clientFor([], () => undefined).check('https://slow.test/')
    vi.advanceTimersByTime(3_000)
    expect(await answer).toBeNull()
  })

  it('accepts addresses that the operator allows', async () => {
    expect(await clientFor(['10.0.0.0/8']).check('https://10.1.2.3/')).toBeNull()
    expect(await clientFor(['hooks.internal'], nameServer(['10.1.2.3'])).check('https://hooks.internal/')).toBeNull()
  })
})

describe('a name that changes its address', () => {
  it('is refused at the call, even if it passed the check', async () => {
    const client = clientFor([], nameServer(['8.8.8.8'], ['10.0.0.1']))
    expect(await client.check('http://rebinding.test/')).toBeNull()
    expect(await client.post(call('http://rebinding.test/'), NEVER)).toMatchObject({
      outcome: 'failed',
      error: 'its address 10.0.0.1 is private: webhooks are sent to public addresses only',
    })
  })

  it('is refused at the next connection, even if the previous one was allowed', async () => {
    const server = await startServer(json(200, {}, { connection: 'close' }))
    const client = clientFor(['127.0.0.1'], nameServer(['127.0.0.1'], ['127.0.0.2']))
    const url = `http://rebinding.test:${server.port}/`
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'delivered' })
    expect(await client.post(call(url), NEVER)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('127.0.0.2 is private'),
    })
    expect(server.taken).toHaveLength(1)
  })
})

it('a name with a private and a public address is called at the public one', async () => {
  const server = await startServer(json(200, {}))
  const client = clientFor(['127.0.0.1'], nameServer(['10.0.0.1', '127.0.0.1']))
  expect(await client.post(call(`http://two.test:${server.port}/`), NEVER)).toMatchObject({ outcome: 'delivered' })
  expect(server.taken).toHaveLength(1)
})
