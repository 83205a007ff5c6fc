import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { Missing } from './missing.js'

/** A message that WhatsApp does not pass on: what it was, and why. */
export function Unsupported({ message, content }: { message: ThreadMessage; content: ContentOf<'unsupported'> }) {
  const { kind, errors } = content
  const { t } = useTranslation('thread')
  const [error] = errors ?? []
  const reason = error?.details ?? error?.title
  return (
    <>
      <KnownText message={message} />
      <Missing>{kind === null ? t('unsupported') : t('unsupportedKind', { kind })}</Missing>
      {reason && (
        <Text size="xs" px={4} className={classes.dim}>
          {reason}
        </Text>
      )}
    </>
  )
}

/** A message of a kind that is not known: its text, and its name. */
export function Unknown({ message, content: { name } }: { message: ThreadMessage; content: ContentOf<'other'> }) {
  const { t } = useTranslation('thread')
  // In the history of a phone; the files of the newest two weeks follow.
  if (message.message_type === 'media_placeholder') return <Missing>{t('fileNotPassedOn')}</Missing>
  return (
    <>
      <KnownText message={message} />
      <Missing>{name === null ? t('unsupported') : t('unsupportedKind', { kind: name })}</Missing>
    </>
  )
}

/** The text of such a message, unless it only stands for the content, as `[unsupported]` does. */
function KnownText({ message: { message: text } }: { message: ThreadMessage }) {
  if (text === '' || text.startsWith('[')) return null
  return (
    <Text component="div" size="sm" className={classes.text}>
      <Markup text={text} />
    </Text>
  )
}
