import { Group, NativeSelect } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ReplyChannel, ReplyNumber } from '../../../../../src/model/conversations/inbox.js'

/** The business numbers that may answer, and the one that does. */
export interface NumberChoices {
  numbers: ReplyNumber[]
  /** Undefined: another channel answers. */
  number: ReplyNumber | undefined
  /** Whether the member has chosen it. */
  isChosen: boolean
  /** Null: the default. */
  choose: (from: string | null) => void
}

/** Shows the number that sends, and lets the member choose another one; nothing if there is only one. */
export function NumberChoice({ choices, channel }: { choices: NumberChoices; channel: ReplyChannel | undefined }) {
  const { t } = useTranslation('thread')
  const { numbers, number, choose } = choices
  if (numbers.length === 0) return null
  const others = number === undefined ? [{ value: '', label: channel?.instance ?? '–' }] : []
  return (
    <Group justify="flex-end" pb={4}>
      <NativeSelect
        size="xs"
        aria-label={t('sendFrom')}
        value={number?.from ?? ''}
        onChange={(event) => choose(event.currentTarget.value || null)}
        data={[...others, ...numbers.map(({ from, label }) => ({ value: from, label: t('from', { number: label }) }))]}
      />
    </Group>
  )
}
