import { expect, it } from 'vitest'
import { createListOrders } from '../../../src/core/runtime/list-orders.js'
import { PackedIds } from '../../../src/lib/bytes/packed-ids.js'

/** Finds lists of one item; `reads` are those that were read for it. */
function startFinding() {
  const orders = createListOrders({ clock: () => new Date('2026-01-01T00:00:00Z') })
  const reads: string[] = []
  const find = (organization: string, list: string) =>
    orders.find(organization, list, 1, async () => {
      reads.push(`${organization} ${list}`)
      return { ids: new PackedIds(Buffer.alloc(16)), rowsRead: 1, isWhole: true }
    })
  return { find, reads }
}

it('an order is remembered, however many lists another organization reads', async () => {
  const { find, reads } = startFinding()
  await find('quiet', 'chats')
  for (let n = 0; n < 30; n++) await find('noisy', `chats ${n}`)
  const before = reads.length
  await find('quiet', 'chats')
  await find('noisy', 'chats 29')
  expect(reads).toHaveLength(before)
  await find('noisy', 'chats 0')
  expect(reads.slice(before)).toEqual(['noisy chats 0'])
})

it('the same list of two organizations is two lists', async () => {
  const { find, reads } = startFinding()
  await find('a', 'chats')
  await find('b', 'chats')
  expect(reads).toEqual(['a chats', 'b chats'])
})
