import { Anchor, CloseButton, Group, Text } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { ConnectionStep } from '../../../src/model/organizations/connection-steps.js'
import type { Restriction } from '../../../src/model/organizations/restriction.js'
import { api } from '../api/client.js'
import { useLive } from '../api/live.js'
import { lazyPart } from '../i18n/index.js'
import { useMay } from '../session/session.js'
import { useFormat } from '../shared/format.js'
import classes from './shell.module.css'

/** Its texts are many, and are needed only when something is wrong. */
const NumberProblems = lazyPart<{ steps: readonly ConnectionStep[] }>([], () => import('./number-problems.js'))

interface Trouble {
  phone_number_id: string
  display_phone_number: string | null
  state: 'warning' | 'failed'
  steps: ConnectionStep[]
}

interface NumberState {
  trouble: Trouble | null
  restrictions: Restriction[]
}

const NUMBER = ['number'] as const
const EVENTS = ['number.updated', 'account.updated']

/** Lines that say what is wrong with the organization's number, and what its account may not send. */
export function NumberBanner() {
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: NUMBER,
    queryFn: ({ signal }) => api.get<NumberState>('/number', {}, signal),
    staleTime: 60_000,
  })
  useLive((event) => {
    if (EVENTS.includes(event.type)) void queries.invalidateQueries({ queryKey: NUMBER })
  })
  if (!data) return null
  const { trouble, restrictions } = data
  return (
    <>
      {restrictions.map((restriction) => (
        <Restricted key={`${restriction.name} ${restriction.until}`} restriction={restriction} />
      ))}
      {trouble && <Troubled trouble={trouble} />}
    </>
  )
}

function Restricted({ restriction: { of, until } }: { restriction: Restriction }) {
  const { t } = useTranslation()
  const { dateTime } = useFormat()
  return (
    <Line state="failed">
      {t(`number.restricted.${of}`)} {until !== null && t('number.restrictedUntil', { at: dateTime(until) })}
    </Line>
  )
}

/** What the last check of a number has found. A warning can be hidden. */
function Troubled({ trouble: { phone_number_id, display_phone_number, state, steps } }: { trouble: Trouble }) {
  const { t } = useTranslation()
  const [hidden, hide] = useSessionStorage({
    key: 'parley.hidden-warning',
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  // Other warnings show again.
  const shown = [phone_number_id, ...steps.map(({ reason }) => reason)].join(' ')
  if (state === 'warning' && hidden === shown) return null
  return (
    <Line state={state} onHide={state === 'warning' ? () => hide(shown) : undefined}>
      {t(`number.${state}`, { number: display_phone_number ?? phone_number_id })}{' '}
      <Suspense>
        <NumberProblems steps={steps} />
      </Suspense>
    </Line>
  )
}

/** A line that leads owners to the number, and others to the owners. */
function Line({
  state,
  children,
  onHide,
}: {
  state: Trouble['state']
  children: ReactNode
  onHide?: (() => void) | undefined
}) {
  const { t } = useTranslation()
  const mayConnect = useMay('owner')
  return (
    <Group className={classes.trouble} data-state={state} role="status" gap="xs" wrap="nowrap" justify="center">
      <Text size="sm">
        {children}{' '}
        {mayConnect ? (
          <Anchor component={Link} to="/settings/number" size="sm" c="inherit" underline="always">
            {t('number.open')}
          </Anchor>
        ) : (
          t('number.ask')
        )}
      </Text>
      {onHide && <CloseButton size="sm" aria-label={t('number.hide')} onClick={onHide} />}
    </Group>
  )
}
