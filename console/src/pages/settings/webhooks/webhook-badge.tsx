import { Badge } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Webhook } from '../types.js'

/** Whether a webhook is active. */
export function WebhookBadge({ webhook: { active } }: { webhook: Webhook }) {
  const { t } = useTranslation('settings')
  return (
    <Badge color={active ? 'teal' : 'red'} variant="dot" tt="none" flex="none">
      {t(active ? 'webhooks.active' : 'webhooks.disabled')}
    </Badge>
  )
}
