import { expect, it } from 'vitest'
import { clientNetwork } from '../../../src/http/access/client-address.js'

const networkOf = (remoteAddress: string, forwarded?: string) =>
  clientNetwork({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never)

it.each([
  ['8.8.8.8', undefined, '8.8.8.8'],
  ['::ffff:8.8.8.8', undefined, '8.8.8.8'],
  ['8.8.8.8', '1.1.1.1', '8.8.8.8'],
  ['127.0.0.1', '1.1.1.1, 8.8.8.8', '8.8.8.8'],
  ['::1', '1.1.1.1,8.8.8.8 , 192.168.1.5', '8.8.8.8'],
  ['10.0.0.1', '2001:4860:4860:1:2:3:4:5', '2001:4860:4860:1'],
  ['127.0.0.1', undefined, null],
  ['127.0.0.1', '10.0.0.1', null],
  ['127.0.0.1', '8.8.8.8, unknown', null],
  ['127.0.0.1', `8.8.8.8, fe80::1%${'a'.repeat(10_000)}`, null],
])('a connection from %s with X-Forwarded-For %s is attributed to %s', (address, forwarded, expected) => {
  expect(networkOf(address, forwarded)).toBe(expected)
  // Once more: now the addresses are remembered.
  expect(networkOf(address, forwarded)).toBe(expected)
})

it('keeps addresses apart, also when there are more than it remembers', () => {
  for (let i = 0; i < 12_000; i++) {
    const address = `8.${i >> 8}.${i & 255}.1`
    expect(networkOf('127.0.0.1', address)).toBe(address)
  }
  expect(networkOf('127.0.0.1', '8.0.0.1')).toBe('8.0.0.1')
})
