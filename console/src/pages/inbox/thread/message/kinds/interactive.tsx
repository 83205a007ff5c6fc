import { Text } from '@mantine/core'
import { IconArrowBackUp, IconPhone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { useFormat } from '../../../../../shared/format.js'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import { permissionOf } from '../describe.js'
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
  const { dateTime } = useFormat()
  const { response, is_permanent, expires_at: end, source } = content
  const details = [
    response === 'accept' && end !== null && t('permissionEnds', { at: dateTime(end) }),
    response === 'accept' && is_permanent === true && t('permissionStays'),
    source === 'automatic' && t('permissionAutomatic'),
  ].filter((detail) => detail !== false)
  return (
    <>
      <Text size="xs" px={4} className={classes.dim}>
        <IconPhone aria-hidden size={13} className={classes.inline} /> {t('permission')}
      </Text>
      <Text component="div" size="sm" className={classes.text}>
        {t(permissionOf(content))}
      </Text>
      {details.length > 0 && (
        <Text size="xs" px={4} className={classes.dim}>
          {details.join(' ')}
        </Text>
      )}
    </>
  )
}
