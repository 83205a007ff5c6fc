import { expect } from 'vitest'
import type { SignedInMember } from './console.js'

/** Checks that members without the role of an owner are refused each of these requests before its body is read. */
export async function expectForOwners(members: readonly SignedInMember[], requests: readonly string[]): Promise<void> {
  for (const { call, member } of members) {
    for (const request of requests) {
      const [method, path] = request.split(' ') as [string, string]
      const hasBody = method !== 'GET' && method !== 'DELETE'
      const { status, body } = await call(method, path, hasBody ? { body: {} } : {})
      expect([request, status, body.error]).toEqual([request, 403, 'Insufficient scope'])
      expect(body.message).toContain(member.role)
    }
  }
}
