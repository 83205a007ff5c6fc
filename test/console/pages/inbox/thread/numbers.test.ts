import { expect, it } from 'vitest'
import { isToMark } from '../../../../../console/src/pages/inbox/thread/list/marked.js'
import { readSeq } from '../../../../../console/src/pages/inbox/thread/window.js'

// Numbers of messages that the history of a phone brought are below 1, and may pass to other messages.

it.each([
  ['7', 7],
  ['0', 0],
  ['-412', -412],
  ['', null],
  [null, null],
  ['soon', null],
  ['1.5', null],
  ['99999999999999999999', null],
])('the number %j in a URL is read as %j', (given, seq) => {
  expect(readSeq(given)).toBe(seq)
})

it.each([
  ['the first one, below 1', undefined, { id: 'a', seq: -3 }, true],
  ['the same one', { id: 'a', seq: 0 }, { id: 'a', seq: 0 }, false],
  ['the same one, which has fallen', { id: 'a', seq: 5 }, { id: 'a', seq: 4 }, false],
  ['another one with the same number', { id: 'a', seq: 5 }, { id: 'b', seq: 5 }, true],
  ['a later one', { id: 'a', seq: 5 }, { id: 'b', seq: 6 }, true],
  ['an earlier one', { id: 'a', seq: 5 }, { id: 'b', seq: 4 }, false],
])('a conversation is marked as read up to %s: %j, %j', (_, last, newest, expected) => {
  expect(isToMark(last, newest)).toBe(expected)
})
