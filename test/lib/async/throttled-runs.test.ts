import { expect, it } from 'vitest'
import { createThrottledRuns } from '../../../src/lib/async/throttled-runs.js'

it('a run is shared for a while by callers with the same key only', async () => {
  let now = 0
  let runs = 0
  const share = createThrottledRuns<number>(1_000, () => new Date(now))
  const run = async () => ++runs
  expect(await Promise.all([share('a', run), share('a', run), share('b', run)])).toEqual([1, 1, 2])
  now = 999
  expect(await share('a', run)).toBe(1)
  now = 1_000
  expect(await share('a', run)).toBe(3)
})

it('a failure is shared too', async () => {
  const share = createThrottledRuns(1_000, () => new Date(0))
  const fail = () => Promise.reject(new Error('no'))
  await expect(share('a', fail)).rejects.toThrow('no')
  await expect(share('a', async () => 'yes')).rejects.toThrow('no')
})
