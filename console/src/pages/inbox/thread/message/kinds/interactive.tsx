import { Text } from '@mantine/core'
import { IconArrowBackUp, IconPhone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { type Offer, Offered } from './offered.js'
import { Picture } from './picture.js'

/** A message that offers or asks for something: buttons, a list, a form, products. */
export function Interactive({ message, content }: { message: ThreadMessage; content: Offer }) {
  const { header, footer } = content
  return (
    <>
      {message.media_url !== null && <Picture message={{ ...message, message: '' }} />}
      {header && (
        <Text size="sm" fw={600} px={4}>
          {header}
        </Text>
      )}
      {message.message !== '' && (
        <Text component="div" size="sm" className={classes.text}>
          <Markup text={message.message} />
        </Text>
      )}
      {footer && (
        <Text size="xs" px={4} className={classes.dim}>
          {footer}
        </Text>
      )}
      <Offered content={content} />
    </>
  )
}

interface ChosenReplyProps {
  content: ContentOf<'button_reply'> | ContentOf<'list_reply'> | ContentOf<'button'>
}

/** The customer's choice from buttons or a list. */
export function ChosenReply({ content }: ChosenReplyProps) {
  const { t } = useTranslation('thread')
  const description = content.type === 'list_reply' ? content.description : null
  return (
    <>
      <Text size="xs" px={4} className={classes.dim}>
        <IconArrowBackUp aria-hidden size={13} className={classes.inline} /> {t('chosen')}
      </Text>
      <Text component="div" size="sm" fw={500} className={classes.text}>
        {content.title ?? t('kinds.reply')}
      </Text>
      {description && (
        <Text size="xs" px={4} className={classes.dim}>
          {description}
        </Text>
      )}
    </>
  )
}

/** Whether the customer may be called. */
export function CallPermission({ content }: { content: ContentOf<'call_permission'> }) {
  const { t } = useTranslation('thread')
  return (
    <Text component="div" size="sm" className={classes.text}>
      <IconPhone aria-hidden size={16} className={classes.inline} /> {t(permissionOf(content))}
    </Text>
  )
}

function permissionOf({ response, expires_at: end }: ContentOf<'call_permission'>) {
  if (response === 'reject') return 'mayNotCall'
  if (response !== 'accept') return 'answeredCalls'
  return end !== null && Date.parse(end) <= Date.now() ? 'mayNoLongerCall' : 'mayCall'
}
