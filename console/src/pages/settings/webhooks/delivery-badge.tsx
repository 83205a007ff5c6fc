import { Badge } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { DeliveryStatus } from '../types.js'

const COLORS: Record<DeliveryStatus, string> = { pending: 'yellow', delivered: 'teal', failed: 'red' }

/** The status of a delivery. */
export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  const { t } = useTranslation('settings')
  return (
    <Badge color={COLORS[status]} variant="dot" tt="none" flex="none">
      {t(`webhooks.filters.${status}`)}
    </Badge>
  )
}
