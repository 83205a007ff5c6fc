import { Text } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import classes from './body.module.css'

/** A poll with its options. */
export function Poll({ content: { name, options } }: { content: ContentOf<'poll'> }) {
  const { t } = useTranslation('thread')
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconChartBar aria-hidden size={13} className={classes.inline} /> {t('kinds.poll')}
      </Text>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <ul className={classes.options}>
        {options.map((option, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
          <li key={index}>{option}</li>
        ))}
      </ul>
    </div>
  )
}
