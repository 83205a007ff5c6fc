import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import { inbox as english } from '../../../../console/src/i18n/en/inbox.js'
import { inbox as portuguese } from '../../../../console/src/i18n/pt/inbox.js'
import { detailOf, GROUP_CHANGES, notPassedOn, systemLine } from '../../../../console/src/pages/inbox/system-line.js'
import type { ShownContent } from '../../../../src/model/messages/shown/schemas.js'

const NOBODY = { phone_number: null, user_id: null }
const typedKeys = <Texts extends object>(texts: Texts) => Object.keys(texts) as (keyof Texts)[]
const t = ((key: string) => key) as unknown as TFunction<'inbox'>

it('the page says in both languages what a call came to, and who answers now', () => {
  for (const outcome of ['missed', 'answered', 'rejected', 'failed'] as const) {
    const content = { type: 'call', direction: 'inbound', outcome, seconds: null } as ShownContent
    expect(systemLine(t, 'call', detailOf(content))).toBe(`calls.${outcome}`)
    expect(portuguese.calls[outcome]).not.toBe(english.calls[outcome])
  }
  for (const holder of ['us', 'other'] as const) {
    const content = { type: 'handover', holder, note: null, summary: null } as ShownContent
    expect(systemLine(t, 'handover', detailOf(content))).toBe(`handovers.${holder}`)
    expect(portuguese.handovers[holder]).not.toBe(english.handovers[holder])
  }
})

it('the page says in both languages what happened to a group', () => {
  for (const event of GROUP_CHANGES) {
    const content = { type: 'group', event, subject: null, description: null, people: [], by: null } as ShownContent
    expect(systemLine(t, 'group', detailOf(content))).toBe(`groups.${event}`)
    expect(portuguese.groups[event]).not.toBe(english.groups[event])
  }
})

it('the page says in both languages what changed about a person, and whether it may be called', () => {
  for (const event of ['number_changed', 'user_id_changed', 'identity_changed'] as const) {
    const content = { type: 'system', event, previous: NOBODY, current: NOBODY } as ShownContent
    expect(systemLine(t, 'system', detailOf(content))).toBe(`changes.${event}`)
    expect(portuguese.changes[event]).not.toBe(english.changes[event])
  }
  for (const response of ['accept', 'reject'] as const) {
    const content = { type: 'call_permission', response } as ShownContent
    expect(systemLine(t, 'interactive', detailOf(content))).toBe(`callPermissions.${response}`)
    expect(portuguese.callPermissions[response]).not.toBe(english.callPermissions[response])
  }
})

it('the page names what WhatsApp does not pass on, or says its word', () => {
  for (const kind of typedKeys(english.notPassedOn)) {
    expect(notPassedOn(t, kind)).toBe(`notPassedOn.${kind}`)
    expect(portuguese.notPassedOn[kind]).not.toBe(english.notPassedOn[kind])
  }
  expect(notPassedOn(t, 'toString')).toBe('toString')
  expect(systemLine(t, 'unsupported', detailOf({ type: 'unsupported', kind: 'poll_creation' }))).toBe('notShownKind')
  expect(systemLine(t, 'unknown', null)).toBe('notShown')
  expect(systemLine(t, 'request_welcome', null)).toBe('opened')
  expect(systemLine(t, 'media_placeholder', null)).toBe('fileNotPassedOn')
})

it.each([
  ['group', 'toString'],
  ['toString', null],
  ['system', 'user_changed_shoes'],
  ['interactive', null],
  ['text', null],
  ['text', 'missed'],
  ['call', 'us'],
  ['call', null],
  ['handover', 'toString'],
])('it says nothing of its own of the type %s with the detail %s', (type, detail) => {
  expect(systemLine(t, type, detail)).toBeNull()
})
