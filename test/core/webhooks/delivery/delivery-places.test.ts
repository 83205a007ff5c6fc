import { describe, expect, it } from 'vitest'
import { DeliveryPlaces } from '../../../../src/core/webhooks/delivery/delivery-places.js'
import { MAX_ATTEMPTS } from '../../../../src/core/webhooks/delivery/in-flight.js'

interface Target {
  organization_id: string
  id: string
  url: string
}

/** An endpoint on a host of its own, unless `host` is given. */
const endpoint = (organization_id: string, id: string, host = id): Target => {
  return { organization_id, id: `${organization_id} ${id}`, url: `http://${organization_id}-${host}.example/hook` }
}

const atHost = (organization_id: string, id: string) => ({
  ...endpoint(organization_id, id),
  url: 'http://shared.example/',
})

/** Acquires as many places as there are, and returns their number. */
function acquireAll(places: DeliveryPlaces, target: Target): number {
  let taken = 0
  for (; places.free(target) > 0; taken++) places.acquire(target)
  return taken
}

describe('the places of attempts', () => {
  it('are 32 for an endpoint alone', () => {
    expect(acquireAll(new DeliveryPlaces(MAX_ATTEMPTS), endpoint('a', '1'))).toBe(32)
  })

  it('are at most 64 for an organization, and each of its endpoints finds some', () => {
    const places = new DeliveryPlaces(MAX_ATTEMPTS)
    const taken = [1, 2, 3, 4].map((n) => acquireAll(places, endpoint('a', String(n))))
    expect(taken).toEqual([32, 16, 8, 4])
    let all = 60
    for (let n = 5; n < 100; n++) all += acquireAll(places, endpoint('a', String(n)))
    expect(all).toBe(64)
  })

  it('are at most 512 in all, and every organization finds some while others hang', () => {
    const places = new DeliveryPlaces(MAX_ATTEMPTS)
    let all = 0
    for (let organization = 0; organization < 12; organization++) {
      let taken = 0
      for (let n = 0; n < 8; n++) taken += acquireAll(places, endpoint(String(organization), String(n)))
      expect(taken).toBeGreaterThan(0)
      all += taken
    }
    expect(all).toBeLessThan(512)
    const ofQuiet = acquireAll(places, endpoint('quiet', '1'))
    expect(ofQuiet).toBeGreaterThan(0)
    all += ofQuiet
    for (let organization = 0; organization < 1_000; organization++)
      all += acquireAll(places, endpoint(`one of ${organization}`, '1'))
    expect(all).toBe(512)
  })

  it('are 32 for an organization at a host, and another organization finds some there', () => {
    const places = new DeliveryPlaces(MAX_ATTEMPTS)
    expect(acquireAll(places, atHost('a', '1')) + acquireAll(places, atHost('a', '2'))).toBe(32)
    const ofOther = acquireAll(places, atHost('b', '1'))
    expect(ofOther).toBeGreaterThan(0)
    let all = 32 + ofOther
    for (let n = 0; n < 100; n++) all += acquireAll(places, atHost(`another ${n}`, '1'))
    expect(all).toBe(64)
  })

  it('are free again when they are given back', () => {
    const places = new DeliveryPlaces(MAX_ATTEMPTS)
    const target = endpoint('a', '1')
    acquireAll(places, target)
    places.release(target)
    expect(acquireAll(places, target)).toBe(1)
  })
})
