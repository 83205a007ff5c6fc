import { Badge } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Instance } from '../types.js'

const COLORS: Record<Instance['state'], string> = { open: 'teal', connecting: 'yellow', close: 'gray' }

/** The connection state of an instance. */
export function StateBadge({ state }: Pick<Instance, 'state'>) {
  const { t } = useTranslation('settings')
  return (
    <Badge color={COLORS[state]} variant="dot" tt="none" flex="none">
      {t(`instances.states.${state}`)}
    </Badge>
  )
}
