import { Button, EmptyState } from '@mantine/core'
import { IconDeviceMobilePlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { SESSION, useMay, useSession } from '../session/session.js'

/** Whether the organization has a business number, which templates and broadcasts need. */
export function useHasNumber(): boolean {
  return useSession().organization.provider === 'upstream'
}

/** Shown while the organization has no number: what to do, for who may do it. */
export function NoNumber({ purpose }: { purpose: 'inbox' | 'templates' }) {
  const { t } = useTranslation()
  const mayConnect = useMay('owner')
  const queries = useQueryClient()
  // The operator may have connected one since the page was opened.
  useEffect(() => void queries.invalidateQueries({ queryKey: SESSION }), [queries])
  return (
    <EmptyState
      p="lg"
      withIndicatorBackground
      icon={<IconDeviceMobilePlus stroke={1.5} aria-hidden />}
      title={t('noNumber.title')}
      description={`${t(`noNumber.${purpose}`)} ${t(mayConnect ? 'noNumber.connect' : 'noNumber.ask')}`}
    >
      {mayConnect && (
        <EmptyState.Actions>
          <Button component={Link} to="/settings/number">
            {t('noNumber.open')}
          </Button>
        </EmptyState.Actions>
      )}
    </EmptyState>
  )
}
