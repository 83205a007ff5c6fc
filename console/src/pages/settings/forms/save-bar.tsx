import { Alert, Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** The state of a form and its buttons. */
export interface SaveBarProps {
  isDirty: boolean
  isPending: boolean
  problem: string | null
  onDiscard: () => void
  /** Further buttons. */
  children?: ReactNode
}

/** The end of a form that changes stored settings. */
export function SaveBar({ isDirty, isPending, problem, onDiscard, children }: SaveBarProps) {
  const { t } = useTranslation('settings')
  return (
    <>
      {problem && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      <Group>
        <Button type="submit" loading={isPending} disabled={!isDirty}>
          {t('save', { ns: 'common' })}
        </Button>
        {children}
        {isDirty && (
          <Button variant="subtle" color="gray" onClick={onDiscard}>
            {t('discard')}
          </Button>
        )}
        <Text size="sm" c="dimmed" role="status">
          {isDirty ? t('unsaved') : ''}
        </Text>
      </Group>
    </>
  )
}
