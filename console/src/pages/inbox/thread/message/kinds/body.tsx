import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import { Audio } from './audio.js'
import classes from './body.module.css'
import { Cards } from './cards.js'
import { Document } from './document.js'
import { ChosenReply, Interactive } from './interactive.js'
import { Missing } from './missing.js'
import { Order } from './order.js'
import { Picture } from './picture.js'
import { Place } from './place.js'
import { Poll } from './poll.js'
import { Referral } from './referral.js'
import { SentTemplate } from './sent-template.js'
import { Sticker } from './sticker.js'
import { Video } from './video.js'

/** The content of a message's bubble, by kind. */
export function Body({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  // A deleted message shows nothing of its file, even if the file is stored.
  if (message.changed === 'revoked') return <Missing>{t('revoked')}</Missing>
  switch (message.message_type) {
    case 'text':
      return <TextBody message={message} />
    case 'image':
      return <WithCaption message={message} file={<Picture message={message} />} />
    case 'video':
      return <WithCaption message={message} file={<Video message={message} />} />
    case 'audio':
      return <Audio message={message} />
    case 'document':
      return <WithCaption message={message} file={<Document message={message} />} />
    case 'sticker':
      return <Sticker message={message} />
    case 'location':
      return <Place message={message} />
    case 'contacts':
      return <Cards message={message} />
    case 'interactive':
      return message.sender_type === 'user-chat' ? <ChosenReply message={message} /> : <Interactive message={message} />
    case 'button':
      return <ChosenReply message={message} />
    case 'template':
    case 'raw_template':
      return <SentTemplate message={message} />
    case 'order':
      return <Order message={message} />
    case 'poll':
      return <Poll message={message} />
    default:
      return <Unsupported message={message} />
  }
}

function TextBody({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { message: text } = message
  // A message without text was deleted by its author.
  if (text === '') return <Missing>{t('revoked')}</Missing>
  return (
    <>
      <Referral content={message.content} />
      <Text component="div" size="sm" className={classes.text} data-emoji={isEmojiOnly(text) || undefined}>
        <Markup text={text} />
      </Text>
    </>
  )
}

function WithCaption({ message, file }: { message: ThreadMessage; file: React.ReactNode }) {
  return (
    <>
      {file}
      {message.message !== '' && (
        <Text component="div" size="sm" className={classes.text} data-caption>
          <Markup text={message.message} />
        </Text>
      )}
    </>
  )
}

function Unsupported({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const isKnown = message.message !== '' && !message.message.startsWith('[')
  if (isKnown) return <TextBody message={message} />
  return <Missing>{t('unsupported')}</Missing>
}

const EMOJI_ONLY = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\s)+$/u
const MAX_BIG = 3

/** Whether the text consists of a few emoji, which are shown large. */
function isEmojiOnly(text: string): boolean {
  if (text.length > 40 || !EMOJI_ONLY.test(text)) return false
  const segments = [...new Intl.Segmenter().segment(text.replace(/\s/g, ''))]
  return segments.length > 0 && segments.length <= MAX_BIG
}
