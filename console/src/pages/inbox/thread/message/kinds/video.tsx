import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { FileState } from './file-state.js'

/** A video in the browser's player. */
export function Video({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { media_url: url } = message
  return (
    <span className={classes.frame} data-missing={url === null || undefined}>
      {url === null ? (
        <FileState message={message} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: videos in messages have no captions
        <video src={url} controls preload="metadata" aria-label={message.message || t('kinds.video')} />
      )}
    </span>
  )
}
