import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import type { Broadcast } from './data.js'

/** The most relevant time of a broadcast: its end, its start, or its scheduled start. */
export function When({ broadcast }: { broadcast: Broadcast }) {
  const { t } = useTranslation('broadcasts')
  const { dateTime } = useFormat()
  const { status, completed_at, started_at, scheduled_at, created_at } = broadcast
  const at = completed_at ?? started_at ?? scheduled_at ?? created_at
  const kind = completed_at
    ? status === 'cancelled'
      ? 'cancelled'
      : 'completed'
    : started_at
      ? 'started'
      : scheduled_at
        ? 'scheduled'
        : 'created'
  return (
    <Text size="sm">
      {dateTime(at)}
      <Text span display="block" size="xs" c="dimmed">
        {t(`when.${kind}`)}
      </Text>
    </Text>
  )
}
