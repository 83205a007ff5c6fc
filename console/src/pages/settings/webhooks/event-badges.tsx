import { Badge, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { EVERY_KIND } from './kinds.js'

/** The events of a webhook. */
export function EventBadges({ events }: { events: string[] }) {
  const { t } = useTranslation('settings')
  const shown = events.includes(EVERY_KIND) ? [t('webhooks.allEvents')] : events
  return (
    <Group gap={6}>
      {shown.map((kind) => (
        <Badge key={kind} variant="default" tt="none" fw={500}>
          {kind}
        </Badge>
      ))}
    </Group>
  )
}
