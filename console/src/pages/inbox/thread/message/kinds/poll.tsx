import { Text } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { asObject, asText } from '../../../../../shared/json.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** A poll with its options. */
export function Poll({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { options } = asObject(message.content)
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconChartBar aria-hidden size={13} className={classes.inline} /> {t('kinds.poll')}
      </Text>
      <Text size="sm" fw={600}>
        {message.message}
      </Text>
      <ul className={classes.options}>
        {(Array.isArray(options) ? options : []).map((option, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
          <li key={index}>{asText(option)}</li>
        ))}
      </ul>
    </div>
  )
}
