import { Anchor, CloseButton, Group, Text } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { ConnectionStep } from '../../../src/model/organizations/connection-steps.js'
import { api } from '../api/client.js'
import { useLive } from '../api/live.js'
import { lazyPart } from '../i18n/index.js'
import { useMay } from '../session/session.js'
import classes from './shell.module.css'

/** Its texts are many, and are needed only when something is wrong. */
const NumberProblems = lazyPart<{ steps: readonly ConnectionStep[] }>([], () => import('./number-problems.js'))

interface Trouble {
  phone_number_id: string
  display_phone_number: string | null
  state: 'warning' | 'failed'
  steps: ConnectionStep[]
}

const NUMBER = ['number'] as const

/** A line that says what is wrong with the organization's number, and leads owners to it. A warning can be hidden. */
export function NumberBanner() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const mayConnect = useMay('owner')
  const [hidden, hide] = useSessionStorage({
    key: 'parley.hidden-warning',
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  const { data: trouble } = useQuery({
    queryKey: NUMBER,
    queryFn: async ({ signal }) => (await api.get<{ trouble: Trouble | null }>('/number', {}, signal)).trouble,
    staleTime: 60_000,
  })
  useLive((event) => {
    if (event.type === 'number.updated') void queries.invalidateQueries({ queryKey: NUMBER })
  })
  if (!trouble) return null
  const { phone_number_id, display_phone_number, state, steps } = trouble
  // Other warnings show again.
  const shown = [phone_number_id, ...steps.map(({ reason }) => reason)].join(' ')
  if (state === 'warning' && hidden === shown) return null
  return (
    <Group className={classes.trouble} data-state={state} role="status" gap="xs" wrap="nowrap" justify="center">
      <Text size="sm">
        {t(`number.${state}`, { number: display_phone_number ?? phone_number_id })}{' '}
        <Suspense>
          <NumberProblems steps={steps} />
        </Suspense>{' '}
        {mayConnect ? (
          <Anchor component={Link} to="/settings/number" size="sm" c="inherit" underline="always">
            {t('number.open')}
          </Anchor>
        ) : (
          t('number.ask')
        )}
      </Text>
      {state === 'warning' && <CloseButton size="sm" aria-label={t('number.hide')} onClick={() => hide(shown)} />}
    </Group>
  )
}
