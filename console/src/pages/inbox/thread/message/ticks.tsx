import { IconAlertCircle, IconCheck, IconChecks, IconClock, IconClockPause } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'
import { stateOf } from './state.js'

/** The status of a sent message. */
export function Ticks({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const state = stateOf(message)
  const Icon = ICONS[state]
  return (
    <Icon
      role="img"
      aria-label={t(`states.${state}`)}
      size={15}
      stroke={2}
      className={classes.tick}
      data-state={state}
    />
  )
}

const ICONS = {
  pending: IconClock,
  held: IconClockPause,
  sent: IconCheck,
  delivered: IconChecks,
  read: IconChecks,
  failed: IconAlertCircle,
} as const
