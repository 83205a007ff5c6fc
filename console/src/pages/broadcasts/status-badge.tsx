import { Badge, type BadgeProps } from '@mantine/core'
import {
  IconBan,
  IconCheck,
  IconChecks,
  IconClock,
  IconPlayerPause,
  IconPlayerPlay,
  IconSend,
  IconX,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import classes from './broadcasts.module.css'
import type { Broadcast, Recipient } from './data.js'

const OF_BROADCASTS = {
  scheduled: { color: 'blue', icon: IconClock },
  running: { color: 'cyan', icon: IconPlayerPlay },
  paused: { color: 'orange', icon: IconPlayerPause },
  cancelled: { color: 'gray', icon: IconBan },
  completed: { color: 'teal', icon: IconCheck },
} as const

const OF_RECIPIENTS = {
  pending: { color: 'gray', icon: IconClock },
  skipped: { color: 'gray', icon: IconBan },
  sent: { color: 'blue', icon: IconSend },
  delivered: { color: 'teal', icon: IconCheck },
  read: { color: 'cyan', icon: IconChecks },
  failed: { color: 'red', icon: IconX },
} as const

/** The status of a broadcast. */
export function StatusBadge({ status }: { status: Broadcast['status'] }) {
  const { t } = useTranslation('broadcasts')
  const { color, icon: Icon } = OF_BROADCASTS[status]
  return (
    <Tinted color={color} leftSection={<Icon aria-hidden size={14} />}>
      {t(`statuses.${status}`)}
    </Tinted>
  )
}

/** The status of a recipient. */
export function RecipientBadge({ status }: { status: Recipient['status'] }) {
  const { t } = useTranslation('broadcasts')
  const { color, icon: Icon } = OF_RECIPIENTS[status]
  return (
    <Tinted color={color} leftSection={<Icon aria-hidden size={14} />}>
      {t(`recipientStatuses.${status}`)}
    </Tinted>
  )
}

/** In the page's text colour: tinted text has too little contrast. */
function Tinted(props: BadgeProps & { children: string }) {
  return <Badge variant="light" tt="none" fw={500} size="lg" className={classes.badge} {...props} />
}
