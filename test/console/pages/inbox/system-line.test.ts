import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import { inbox as english } from '../../../../console/src/i18n/en/inbox.js'
import { inbox as portuguese } from '../../../../console/src/i18n/pt/inbox.js'
import { detailOf, GROUP_CHANGES, systemLine } from '../../../../console/src/pages/inbox/system-line.js'
import type { ShownContent } from '../../../../src/model/messages/shown/schemas.js'

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

it.each([
  ['group', 'toString'],
  ['text', null],
  ['text', 'missed'],
  ['call', 'us'],
  ['call', null],
  ['handover', 'toString'],
])('it says nothing of its own of the type %s with the detail %s', (type, detail) => {
  expect(systemLine(t, type, detail)).toBeNull()
})
