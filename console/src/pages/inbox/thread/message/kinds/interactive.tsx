import { Stack, Text } from '@mantine/core'
import { IconArrowBackUp, IconListDetails } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { asObject, asObjects, asText } from '../../../../../shared/json.js'
import { Markup } from '../../../../../shared/markup.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { Picture } from './picture.js'
import { Question } from './question.js'

/** A message that people answer with a tap: buttons, a list, or another question. */
export function Interactive({ message }: { message: ThreadMessage }) {
  const content = asObject(message.content)
  const { header, footer, button, sections } = content
  const rows = asText(button)
  return (
    <>
      {message.media_url !== null && <Picture message={{ ...message, message: '' }} />}
      {asText(header) && (
        <Text size="sm" fw={600} px={4}>
          {asText(header)}
        </Text>
      )}
      <Text component="div" size="sm" className={classes.text}>
        <Markup text={message.message} />
      </Text>
      {asText(footer) && (
        <Text size="xs" px={4} className={classes.dim}>
          {asText(footer)}
        </Text>
      )}
      {rows === null ? <Question content={content} /> : <Sections button={rows} sections={asObjects(sections)} />}
    </>
  )
}

function Sections({ button, sections }: { button: string; sections: Record<string, unknown>[] }) {
  return (
    <Stack gap={6} mt={6} px={4}>
      <Text size="sm" fw={500} c="var(--mantine-color-anchor)">
        <IconListDetails aria-hidden size={16} className={classes.inline} /> {button}
      </Text>
      {sections.map(({ title, rows }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
        <div key={index}>
          {asText(title) && (
            <Text size="xs" fw={600} className={classes.dim}>
              {asText(title)}
            </Text>
          )}
          <ul className={classes.options}>
            {asObjects(rows).map((row) => (
              <li key={asText(row.id)}>
                {asText(row.title)}
                {asText(row.description) && (
                  <Text size="xs" className={classes.dim}>
                    {asText(row.description)}
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

/** The customer's choice from buttons or a list. */
export function ChosenReply({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const description = asText(asObject(asObject(message.content).list_reply).description)
  return (
    <>
      <Text size="xs" px={4} className={classes.dim}>
        <IconArrowBackUp aria-hidden size={13} className={classes.inline} /> {t('chosen')}
      </Text>
      <Text component="div" size="sm" fw={500} className={classes.text}>
        {message.message || t('kinds.reply')}
      </Text>
      {description && (
        <Text size="xs" px={4} className={classes.dim}>
          {description}
        </Text>
      )}
    </>
  )
}
