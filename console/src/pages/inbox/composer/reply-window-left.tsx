import { Text, Tooltip } from '@mantine/core'
import { IconClockHour4 } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import classes from './composer.module.css'
import type { ReplyWindow } from './use-reply-window.js'

const HOUR_MS = 3_600_000
const SOON_MS = 2 * HOUR_MS

/** The time left in the 24-hour window. */
export function ReplyWindowLeft({ window: { msLeft } }: { window: ReplyWindow }) {
  const { t } = useTranslation('thread')
  const left =
    msLeft >= HOUR_MS
      ? t('hoursLeft', { count: Math.floor(msLeft / HOUR_MS) })
      : t('minutesLeft', { count: Math.max(1, Math.ceil(msLeft / 60_000)) })
  return (
    <Tooltip label={t('windowHint')} multiline w={260}>
      <Text
        component="button"
        type="button"
        size="xs"
        className={classes.left}
        data-soon={msLeft < SOON_MS || undefined}
        aria-label={`${left}. ${t('windowHint')}`}
      >
        <IconClockHour4 aria-hidden size={14} /> {left}
      </Text>
    </Tooltip>
  )
}
