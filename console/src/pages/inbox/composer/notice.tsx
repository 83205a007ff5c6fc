import { Group, Text } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './composer.module.css'

/** A notice above or in place of the composer, with an action. */
export function Notice({
  icon: IconShown,
  tone = 'plain',
  children,
  action,
}: {
  icon: Icon
  tone?: 'plain' | 'warning'
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <Group gap="xs" className={classes.notice} data-tone={tone}>
      <IconShown aria-hidden size={18} stroke={1.7} className={classes.noticeIcon} />
      <Text size="sm" flex="1 1 200px">
        {children}
      </Text>
      {action}
    </Group>
  )
}
