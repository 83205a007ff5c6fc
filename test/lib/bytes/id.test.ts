import { describe, expect, it } from 'vitest'
import { idBefore, isUuid, newId } from '../../../src/lib/bytes/id.js'

describe('newId', () => {
  it('returns UUIDs of version 7, each later than the one before', () => {
    const ids = Array.from({ length: 1000 }, newId)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('idBefore', () => {
  it('lies between the ids from before and after the time', () => {
    const earlier = newId()
    const time = Date.now()
    expect(isUuid(idBefore(new Date(time)))).toBe(true)
    expect(idBefore(new Date(time + 1)) > earlier).toBe(true)
    expect(idBefore(new Date(time)) < newId()).toBe(true)
    expect(idBefore(new Date(0))).toBe('00000000-0000-7000-8000-000000000000')
  })
})

describe('isUuid', () => {
  it.each([
    '0190b7c4-5f3a-7c1e-9d2b-3a4b5c6d7e8f',
    '0190B7C4-5F3A-7C1E-9D2B-3A4B5C6D7E8F',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    '00000000-0000-0000-0000-000000000000',
  ])('accepts %s', (value) => {
    expect(isUuid(value)).toBe(true)
  })

  it.each([
    '',
    '0190b7c45f3a7c1e9d2b3a4b5c6d7e8f',
    '{0190b7c4-5f3a-7c1e-9d2b-3a4b5c6d7e8f}',
    '0190b7c4-5f3a-7c1e-9d2b-3a4b5c6d7e8',
    '0190b7c4-5f3a-7c1e-9d2b-3a4b5c6d7e8g',
    '0190b7c4-5f3a-7c1e-9d2b-3a4b5c6d7e8f\n',
  ])('refuses %j', (value) => {
    expect(isUuid(value)).toBe(false)
  })
})
