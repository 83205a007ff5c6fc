import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { FileState } from './file-state.js'

/** A sticker, shown without a bubble. */
export function Sticker({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  if (message.media_url === null) {
    return (
      <span className={classes.sticker}>
        <FileState message={message} />
      </span>
    )
  }
  return <img src={message.media_url} alt={t('kinds.sticker')} className={classes.sticker} loading="lazy" />
}
