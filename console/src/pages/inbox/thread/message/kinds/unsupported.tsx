import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { Markup } from '../../../../../shared/markup.js'
import { ButtonRows } from '../../../../../shared/templates/template-card.js'
import { notPassedOn } from '../../../system-line.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { Missing } from './missing.js'

/** WhatsApp's error codes that have a text of the page. */
const KNOWN = ['131051', '131060', '130501'] as const

/** A message that WhatsApp does not pass on: what it was, and why. */
export function Unsupported({ message, content }: { message: ThreadMessage; content: ContentOf<'unsupported'> }) {
  const { kind, errors } = content
  const { t } = useTranslation('thread')
  const { t: inInbox } = useTranslation('inbox')
  const [error] = errors ?? []
  const code = KNOWN.find((known) => known === String(error?.code))
  const reason = code ? t(`whyNotShown.${code}`) : (error?.details ?? error?.title)
  return (
    <>
      <KnownText message={message} />
      <Missing>{kind === null ? t('unsupported') : t('unsupportedKind', { kind: notPassedOn(inInbox, kind) })}</Missing>
      {reason && (
        <Text size="xs" px={4} className={classes.dim}>
          {reason}
        </Text>
      )}
    </>
  )
}

/** What WhatsApp's agent and other apps send about calls, and Parley does not. */
const ASKS = ['call_permission_request', 'voice_call'] as const

/** A message of a kind that is not known: its text, and its name. */
export function Unknown({ message, content: { name } }: { message: ThreadMessage; content: ContentOf<'other'> }) {
  const { t } = useTranslation('thread')
  const { t: inInbox } = useTranslation('inbox')
  // In the history of a phone; the files of the newest two weeks follow.
  if (message.message_type === 'media_placeholder') return <Missing>{inInbox('fileNotPassedOn')}</Missing>
  const asked = ASKS.find((known) => known === name)
  if (asked && message.sender_type !== 'user-chat') {
    return (
      <>
        <KnownText message={message} />
        <ButtonRows buttons={[{ kind: 'phone_number', text: t(`asks.${asked}`) }]} />
      </>
    )
  }
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
