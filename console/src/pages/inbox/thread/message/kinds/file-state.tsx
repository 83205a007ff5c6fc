import { Loader } from '@mantine/core'
import { IconFileOff } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** After this time a missing file counts as failed. */
const WAIT_MS = 15 * 60_000

/** Shown in place of a file that is being downloaded or is not available. */
export function FileState({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const isOnItsWay = message.error === null && Date.now() - Date.parse(message.created_at) < WAIT_MS
  return (
    <span className={classes.waiting}>
      {isOnItsWay ? <Loader size="sm" aria-hidden /> : <IconFileOff aria-hidden size={24} stroke={1.5} />}
      {isOnItsWay ? t('fileWaiting') : t(message.error?.code === 'media_removed' ? 'fileRemoved' : 'fileMissing')}
    </span>
  )
}
