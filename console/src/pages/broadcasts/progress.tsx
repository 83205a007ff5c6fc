import { Group, Progress, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../shared/format.js'
import classes from './broadcasts.module.css'
import { type Broadcast, isMoving, usePending } from './data.js'

/** The progress of a broadcast. */
export function BroadcastProgress({ broadcast, size = 'sm' }: { broadcast: Broadcast; size?: 'sm' | 'lg' }) {
  const { t } = useTranslation('broadcasts')
  const { number, percent } = useFormat()
  const { data: pending } = usePending(broadcast)
  const { totalRecipients: total, status } = broadcast
  const done = pending === undefined ? 0 : Math.max(0, total - pending)
  const share = total === 0 ? 100 : (done * 100) / total
  return (
    <Stack gap={4} className={classes.progress}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm">{t('progress.done', { done: number(done), total: number(total) })}</Text>
        <Text size="sm" c="dimmed">
          {percent(Math.floor(share))}
        </Text>
      </Group>
      <Progress
        value={share}
        size={size}
        {...(status === 'paused' && { color: 'orange' })}
        striped={isMoving(status)}
        animated={isMoving(status)}
        aria-label={t('progress.label', { name: broadcast.name })}
      />
    </Stack>
  )
}
