import { Stack, Text } from '@mantine/core'
import { IconArrowBackUp, IconListDetails, IconPhone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { Markup } from '../../../../../shared/markup.js'
import { ButtonRows } from '../../../../../shared/templates/template-card.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { Picture } from './picture.js'

interface InteractiveProps {
  message: ThreadMessage
  content: ContentOf<'buttons'> | ContentOf<'list'>
}

/** A message with buttons or a list. */
export function Interactive({ message, content }: InteractiveProps) {
  const { header, footer } = content
  return (
    <>
      {message.media_url !== null && <Picture message={{ ...message, message: '' }} />}
      {header && (
        <Text size="sm" fw={600} px={4}>
          {header}
        </Text>
      )}
      <Text component="div" size="sm" className={classes.text}>
        <Markup text={message.message} />
      </Text>
      {footer && (
        <Text size="xs" px={4} className={classes.dim}>
          {footer}
        </Text>
      )}
      {content.type === 'list' ? (
        <Sections content={content} />
      ) : (
        <ButtonRows buttons={content.buttons.map(({ title }) => ({ kind: 'quick_reply', text: title ?? '' }))} />
      )}
    </>
  )
}

function Sections({ content: { button, sections } }: { content: ContentOf<'list'> }) {
  return (
    <Stack gap={6} mt={6} px={4}>
      <Text size="sm" fw={500} c="var(--mantine-color-anchor)">
        <IconListDetails aria-hidden size={16} className={classes.inline} /> {button}
      </Text>
      {sections.map(({ title, rows }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
        <div key={index}>
          {title && (
            <Text size="xs" fw={600} className={classes.dim}>
              {title}
            </Text>
          )}
          <ul className={classes.options}>
            {rows.map((row) => (
              <li key={row.id}>
                {row.title}
                {row.description && (
                  <Text size="xs" className={classes.dim}>
                    {row.description}
                  </Text>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Stack>
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
export function CallPermission({ content: { response } }: { content: ContentOf<'call_permission'> }) {
  const { t } = useTranslation('thread')
  return (
    <Text component="div" size="sm" className={classes.text}>
      <IconPhone aria-hidden size={16} className={classes.inline} />{' '}
      {t(response === 'accept' ? 'mayCall' : 'mayNotCall')}
    </Text>
  )
}
