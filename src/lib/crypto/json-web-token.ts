import { createHmac } from 'node:crypto'

/** A JSON Web Token of these claims, signed with HMAC-SHA256 (HS256, RFC 7515 and 7519). */
export function signToken(claims: object, secret: string): string {
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
