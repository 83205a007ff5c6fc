import { VisuallyHidden } from '@mantine/core'
import { IconAlertCircleFilled, IconCheck, IconChecks, IconRobot } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { systemLine } from '../system-line.js'
import { KindIcon, kindOf } from './kind.js'
import classes from './row.module.css'

type LastMessage = NonNullable<InboxContact['last_message']>

/** A conversation's newest message in one line: author, status and text. */
export function Preview({ message }: { message: LastMessage | null }) {
  const { t } = useTranslation('inbox')
  if (message === null) return <span className={classes.preview}>{t('noMessages')}</span>
  const kind = kindOf(message)
  const isOurs = message.sender_type !== 'user-chat' && message.sender_type !== 'system'
  // A message without text, or with only a placeholder such as [image], shows the name of its kind.
  const hasNoText = kind !== null && (message.text === '' || /^\[\w+\]$/.test(message.text))
  const text = hasNoText ? t(`kinds.${kind === 'interactive' && !isOurs ? 'reply' : kind}`) : message.text
  const line = systemLine(t, message.message_type, message.detail)
  return (
    <span className={classes.preview} data-failed={isFailed(message) || undefined}>
      {isOurs && <Ticks message={message} />}
      {message.sender_type === 'bot-chat' && <IconRobot size={14} stroke={1.8} aria-hidden />}
      {isOurs && <VisuallyHidden>{t(message.sender_type === 'bot-chat' ? 'bot' : 'you')} </VisuallyHidden>}
      {kind !== null && <KindIcon kind={kind} />}
      <span className={classes.text}>{line ?? text}</span>
    </span>
  )
}

function Ticks({ message }: { message: LastMessage }) {
  const { t } = useTranslation('inbox')
  const status = isFailed(message) ? 'failed' : message.status
  const icon = {
    size: 15,
    role: 'img',
    'aria-label': t(`status.${status}`),
    className: classes.ticks,
    'data-status': status,
  }
  if (status === 'failed') return <IconAlertCircleFilled {...icon} />
  return status === 'sent' ? <IconCheck {...icon} /> : <IconChecks {...icon} />
}

function isFailed({ status, has_error }: LastMessage): boolean {
  return status === 'failed' || (has_error && status === 'sent')
}
