import { describe, expect, it } from 'vitest'
import { thread as english } from '../../../../../console/src/i18n/en/thread.js'
import { thread as portuguese } from '../../../../../console/src/i18n/pt/thread.js'
import { placeOfWish, type Wish, wishOf } from '../../../../../console/src/pages/inbox/contact/wish.js'
import { isHeldByOther, startsOfStandby } from '../../../../../console/src/pages/inbox/thread/holder.js'
import { stateOf } from '../../../../../console/src/pages/inbox/thread/message/state.js'
import type { InboxContact, ThreadMessage } from '../../../../../src/model/conversations/inbox.js'

const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const at = (minutes: number) => new Date(NOON + minutes * 60_000)

/** Messages, a minute apart from noon on, numbered from 1. */
const messagesOf = (...all: Partial<ThreadMessage>[]) =>
  all.map((fields, n) => ({
    id: `m${n}`,
    seq: n + 1,
    created_at: at(n).toISOString(),
    message_type: 'text',
    message_status: 'delivered',
    outcome: null,
    content: null,
    ...fields,
  })) as ThreadMessage[]

const theirs: Partial<ThreadMessage> = { sender_type: 'user-chat' }
const ours: Partial<ThreadMessage> = { sender_type: 'human-chat' }
const standby: Partial<ThreadMessage> = { ...theirs, handled_by: 'upstream_agent' }
const agents: Partial<ThreadMessage> = { sender_type: 'bot-chat', handled_by: 'upstream_agent' }
const passed = (holder: string): Partial<ThreadMessage> => ({
  sender_type: 'system',
  message_type: 'handover',
  content: { type: 'handover', holder, previous_role: null, new_role: null, note: null, summary: null },
})

describe('who answers the customer', () => {
  it.each([
    ['nobody wrote', [], false],
    ['the customer wrote', [theirs], false],
    ['another app took over', [theirs, passed('other')], true],
    ['it handed back', [passed('other'), passed('us')], false],
    ['a message came while the other app held it, without a hand-over', [theirs, standby], true],
    ['the other app answered', [standby, agents], true],
    ['the team took over by a message', [standby, ours], false],
    ['the team sent a template', [standby, { ...ours, message_type: 'template' }], true],
    ['the message of the team failed', [standby, { ...ours, message_status: 'failed' }], true],
    ['the message of the team is on its way', [standby, { ...ours, message_status: 'sent', outcome: 'pending' }], true],
    ['the customer writes to the team again', [standby, theirs], false],
    ['the customer calls', [standby, { ...theirs, message_type: 'call' }], true],
  ] as [string, Partial<ThreadMessage>[], boolean][])('%s', (_, messages, expected) => {
    expect(isHeldByOther(messagesOf(...messages), at(60))).toBe(expected)
  })

  it('nobody holds a conversation after a day without a message', () => {
    const messages = messagesOf(passed('other'))
    expect(isHeldByOther(messages, at(24 * 60 - 1))).toBe(true)
    expect(isHeldByOther(messages, at(24 * 60))).toBe(false)
  })

  it('the conversation says so once, if no hand-over does', () => {
    const starts = (isBeginning: boolean, ...messages: Partial<ThreadMessage>[]) => [
      ...startsOfStandby(messagesOf(...messages), isBeginning),
    ]
    expect(starts(true, theirs, standby, agents, ours, standby)).toEqual([1, 4])
    expect(starts(true, theirs, passed('other'), standby, agents)).toEqual([])
    // What came before the first loaded message is not known.
    expect(starts(false, standby, agents, theirs, standby)).toEqual([3])
    expect(starts(true, standby)).toEqual([0])
  })
})

describe('a wish about marketing messages', () => {
  const wish = (minutes: number, fields: Partial<Wish> = {}): Wish => ({
    wants: 'stop',
    at: at(minutes).toISOString(),
    source: 'upstream',
    words: 'No more',
    ...fields,
  })
  const placeOf = (said: Wish, isEndLoaded = true) => placeOfWish(said, messagesOf(theirs, theirs, theirs), isEndLoaded)

  it('stands between the messages by its time', () => {
    expect(placeOf(wish(0.5))).toBe(0)
    expect(placeOf(wish(2.5))).toBe(2)
    expect(placeOf(wish(2.5), false)).toBeNull()
    expect(placeOf(wish(-1))).toBeNull()
  })

  it('is no line of its own if it was a reply, which is a message, or an import', () => {
    expect(placeOf(wish(0.5, { source: 'reply' }))).toBeNull()
    expect(placeOf(wish(0.5, { source: 'import' }))).toBeNull()
    expect(placeOf(wish(0.5, { wants: 'resume', source: null }))).toBe(0)
    expect(placeOf(wish(0.5, { wants: 'resume', source: null, words: null }))).toBeNull()
  })

  it('is the last one of the contact, with its words and time', () => {
    const contact = { opted_out_at: null, opted_in_at: null, opt_out_source: null, consent_words: null }
    const of = (fields: object) => wishOf({ ...contact, ...fields } as InboxContact)
    const [first, second] = [at(0).toISOString(), at(1).toISOString()]
    expect(of({})).toBeNull()
    expect(of({ opted_in_at: first, opted_out_at: second, opt_out_source: 'upstream', consent_words: 'No' })).toEqual({
      wants: 'stop',
      at: second,
      source: 'upstream',
      words: 'No',
    })
    expect(of({ opted_in_at: first, consent_words: 'Yes' })).toEqual({
      wants: 'resume',
      at: first,
      source: null,
      words: 'Yes',
    })
  })
})

it('a message that WhatsApp holds back shows as held, and not as being sent', () => {
  const [held, pending, delivered] = messagesOf(
    { ...ours, message_status: 'sent', outcome: 'held' },
    { ...ours, message_status: 'sent', outcome: 'pending' },
    { ...ours, outcome: 'held' },
  )
  expect([held, pending, delivered].map((message) => message && stateOf(message))).toEqual([
    'held',
    'pending',
    'delivered',
  ])
  expect([portuguese.states.held, portuguese.heldHint]).not.toContain(english.states.held)
  expect(portuguese.heldHint).not.toBe(english.heldHint)
})
