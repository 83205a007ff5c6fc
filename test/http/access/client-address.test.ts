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
])('a connection from %s with X-Forwarded-For %s is attributed to %s', (address, forwarded, expected) => {
  expect(networkOf(address, forwarded)).toBe(expected)
})
