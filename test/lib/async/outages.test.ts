import { describe, expect, it } from 'vitest'
import { type OutageFacts, type OutageWatch, watchOutage, watchPartialOutage } from '../../../src/lib/async/outages.js'

type Tell = Parameters<typeof watchOutage>[0]

const watch = (enough?: number) => watching((tell, now) => watchOutage(tell, enough, now))

function watching(start: (tell: Tell, now: () => number) => OutageWatch) {
  const told: [string, Omit<OutageFacts, 'since'>][] = []
  let now = 0
  const tellAs = (what: string) => (facts: OutageFacts) => {
    const { since, ...rest } = facts
    expect(Date.parse(since)).not.toBeNaN()
    told.push([what, rest])
  }
  const outage = start({ fails: tellAs('fails'), worksAgain: tellAs('works again') }, () => now)
  const failEach = (seconds: number, times: number) => {
    for (let n = 0; n < times; n++) {
      outage.failed(`failure ${n + 1}`)
      now += seconds * 1_000
    }
  }
  return { outage, told, failEach }
}

describe('an outage', () => {
  it('is told when it begins, once a minute, and when it is over', () => {
    const { outage, told, failEach } = watch()
    failEach(1, 130)
    outage.worked()
    expect(told).toEqual([
      ['fails', { seconds: 0, failures: 1, reason: 'failure 1' }],
      ['fails', { seconds: 60, failures: 61, reason: 'failure 61' }],
      ['fails', { seconds: 120, failures: 121, reason: 'failure 121' }],
      ['works again', { seconds: 130, failures: 130, reason: 'failure 130' }],
    ])
  })

  it('is none until enough calls in a row have failed', () => {
    const { outage, told, failEach } = watch(3)
    failEach(1, 2)
    outage.worked()
    failEach(1, 2)
    outage.worked()
    expect(told).toEqual([])
    failEach(1, 3)
    outage.worked()
    expect(told.map(([what]) => what)).toEqual(['fails', 'works again'])
  })

  it('is told after half a minute where calls are few', () => {
    const { outage, told, failEach } = watch(5)
    failEach(20, 3)
    outage.worked()
    failEach(40, 1)
    outage.worked()
    expect(told).toEqual([
      ['fails', { seconds: 40, failures: 3, reason: 'failure 3' }],
      ['works again', { seconds: 60, failures: 3, reason: 'failure 3' }],
    ])
  })

  it('lasts from when it is told until something has worked', () => {
    const { outage, failEach } = watch(2)
    const seen = [outage.isOut()]
    for (let n = 0; n < 2; n++) {
      failEach(1, 1)
      seen.push(outage.isOut())
    }
    outage.worked()
    expect([...seen, outage.isOut()]).toEqual([false, false, true, false])
  })

  it('is not told while everything works', () => {
    const { outage, told } = watch()
    outage.worked()
    outage.worked()
    expect(told).toEqual([])
  })
})

describe('a partial outage', () => {
  it('is one, however often something works in between, and over when nothing has failed for some time', () => {
    const { outage, told, failEach } = watching((tell, now) => watchPartialOutage(tell, 5_000, now))
    for (let n = 0; n < 10; n++) {
      failEach(5, 1)
      outage.worked()
    }
    expect(told.map(([what]) => what)).toEqual(['fails'])
    expect(outage.isOut()).toBe(true)
    failEach(6, 1)
    outage.worked()
    outage.worked()
    expect(told.map(([what]) => what)).toEqual(['fails', 'works again'])
    expect(outage.isOut()).toBe(false)
  })
})
