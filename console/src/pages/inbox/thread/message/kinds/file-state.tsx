import { Loader } from '@mantine/core'
import { IconFileOff } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** A file that has not come for so long does not come any more. */
const WAIT_MS = 15 * 60_000

/** Stands in place of a file that is still being fetched, or cannot be had. */
export function FileState({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const isOnItsWay = message.error === null && Date.now() - Date.parse(message.created_at) < WAIT_MS
  return (
    <span className={classes.waiting}>
      {isOnItsWay ? <Loader size="sm" aria-hidden /> : <IconFileOff aria-hidden size={24} stroke={1.5} />}
      {isOnItsWay ? t('fileWaiting') : t('fileMissing')}
    </span>
  )
}
