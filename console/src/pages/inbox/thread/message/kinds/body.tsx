import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import { Audio } from './audio.js'
import { Beside } from './beside.js'
import classes from './body.module.css'
import { Cards } from './cards.js'
import { Document } from './document.js'
import { FilledAddress, FilledForm } from './form.js'
import { CallPermission, ChosenReply, Interactive } from './interactive.js'
import { Event, GroupInvite } from './invitations.js'
import { Missing } from './missing.js'
import { Order, Product } from './order.js'
import { Picture } from './picture.js'
import { Place } from './place.js'
import { Poll } from './poll.js'
import { SentTemplate } from './sent-template.js'
import { Sticker } from './sticker.js'
import { Unknown, Unsupported } from './unsupported.js'
import { Video } from './video.js'

/** The content of a message's bubble, by kind. */
export function Body({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  // A deleted message shows nothing of its file, even if the file is stored.
  if (message.changed === 'revoked') return <Missing>{t('revoked')}</Missing>
  return (
    <>
      {message.content && <Beside content={message.content} />}
      <Kind message={message} />
    </>
  )
}

function Kind({ message }: { message: ThreadMessage }) {
  const { content } = message
  switch (content?.type) {
    case 'image':
      return <WithCaption message={message} file={<Picture message={message} />} />
    case 'video':
      return <WithCaption message={message} file={<Video message={message} />} />
    case 'audio':
      return <Audio message={message} isVoice={content.voice} />
    case 'document':
      return <WithCaption message={message} file={<Document message={message} filename={content.filename} />} />
    case 'sticker':
      return <Sticker message={message} />
    case 'location':
      return <Place content={content} text={message.message} />
    case 'contacts':
      return <Cards content={content} />
    case 'button_reply':
    case 'list_reply':
    case 'button':
      return <ChosenReply content={content} />
    case 'flow':
      return <FilledForm content={content} />
    case 'address':
      return <FilledAddress content={content} />
    case 'call_permission':
      return <CallPermission content={content} />
    case 'product':
      return <Product content={content} />
    case 'buttons':
    case 'list':
    case 'cta_url':
    case 'flow_offer':
    case 'location_request':
    case 'contact_request':
    case 'address_request':
    case 'product_offer':
    case 'product_list':
    case 'catalog':
    case 'carousel':
      return <Interactive message={message} content={content} />
    case 'template':
      return <SentTemplate message={message} content={content} />
    case 'order':
      return <Order content={content} />
    case 'poll':
      return <Poll content={content} />
    case 'event':
      return <Event content={content} />
    case 'group_invite':
      return <GroupInvite content={content} />
    case 'request_welcome':
      return <Welcome />
    case 'unsupported':
      return <Unsupported message={message} content={content} />
    case 'other':
      return <Unknown message={message} content={content} />
    default:
      return <TextBody message={message} />
  }
}

/** The customer opened the conversation, and wrote nothing yet. */
function Welcome() {
  const { t } = useTranslation('inbox')
  return (
    <Text size="sm" fs="italic" className={classes.text}>
      {t('opened')}
    </Text>
  )
}

function TextBody({ message: { message: text } }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  // A message without text was deleted by its author.
  if (text === '') return <Missing>{t('revoked')}</Missing>
  return (
    <Text component="div" size="sm" className={classes.text} data-emoji={isEmojiOnly(text) || undefined}>
      <Markup text={text} />
    </Text>
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

const EMOJI_ONLY = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\s)+$/u
const MAX_BIG = 3

/** Whether the text consists of a few emoji, which are shown large. */
function isEmojiOnly(text: string): boolean {
  if (text.length > 40 || !EMOJI_ONLY.test(text)) return false
  const segments = [...new Intl.Segmenter().segment(text.replace(/\s/g, ''))]
  return segments.length > 0 && segments.length <= MAX_BIG
}
