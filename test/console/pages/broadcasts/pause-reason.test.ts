import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import { broadcasts as english } from '../../../../console/src/i18n/en/broadcasts.js'
import { broadcasts as portuguese } from '../../../../console/src/i18n/pt/broadcasts.js'
import { pauseReason } from '../../../../console/src/pages/broadcasts/pause-reason.js'
import { WAITING_REASONS } from '../../../../src/model/broadcasts/broadcast.js'

it('the page says in both languages why a broadcast waits for somebody, and passes on what WhatsApp says', () => {
  const t = ((key: string) => key) as unknown as TFunction<'broadcasts'>
  expect(Object.keys(english.pauseReasons).sort()).toEqual([...WAITING_REASONS].sort())
  for (const reason of WAITING_REASONS) {
    expect(pauseReason(t, reason)).toBe(`pauseReasons.${reason}`)
    expect(portuguese.pauseReasons[reason]).not.toBe(english.pauseReasons[reason])
  }
  expect(pauseReason(t, 'WhatsApp has locked the account: …')).toBe('WhatsApp has locked the account: …')
})
