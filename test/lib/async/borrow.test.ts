import { expect, it } from 'vitest'
import { borrow } from '../../../src/lib/async/borrow.js'

it('returns the lent value until it is given back', async () => {
  const seen: string[] = []
  const held = await borrow<string>(async (work) => {
    seen.push('lent')
    await work('it')
    seen.push('back')
  })
  expect([held.value, ...seen]).toEqual(['it', 'lent'])
  await held.release()
  expect(seen).toEqual(['lent', 'back'])
})

it('throws the error of the lender', async () => {
  await expect(borrow(() => Promise.reject(new Error('none left')))).rejects.toThrow('none left')
})
