import { Alert, Button, DataList, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { useLive } from '../../../../api/live.js'
import { useFormat } from '../../../../shared/format.js'
import { notifyError } from '../../../../shared/problem.js'
import { Panel } from '../../frame/panel.js'
import { NUMBER_HEALTH, useNumberHealth } from '../../queries.js'
import type { NumberHealth } from '../../types.js'
import { Steps } from './steps.js'

/** What a check says of a token whose end is known to be none. */
const LASTING = ['token_lasting', 'token_of_person', 'data_access_ending']
const COLORS = { ok: 'teal', warning: 'orange', failed: 'red' } as const

/** What the last check of the number has found; nothing without a number. */
export function HealthPanel() {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const health = useNumberHealth()
  useLive((event) => {
    if (event.type === 'number.updated') void queries.invalidateQueries({ queryKey: NUMBER_HEALTH })
  })
  const checking = useMutation({
    mutationFn: () => api.get<{ numbers: NumberHealth[] }>('/settings/upstream/health', { refresh: 'true' }),
    onSuccess: ({ numbers }) => queries.setQueryData(NUMBER_HEALTH, numbers[0] ?? null),
    onError: (error) => notifyError(error),
  })
  const number = health.data
  if (!number) return null
  const problems = number.steps.filter(({ state }) => state !== 'ok')
  return (
    <Panel title={t('number.health.title')} hint={t('number.health.hint')}>
      <Alert color={COLORS[number.state ?? 'warning']} variant="outline" role="status">
        {number.state === null ? (
          t('number.health.unchecked')
        ) : (
          <Steps steps={problems.length > 0 ? problems : number.steps} />
        )}
      </Alert>
      <Facts number={number} />
      <Group>
        <Button variant="default" onClick={() => checking.mutate()} loading={checking.isPending}>
          {t('number.health.refresh')}
        </Button>
      </Group>
    </Panel>
  )
}

function Facts({ number }: { number: NumberHealth }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const shown = (at: string | null, otherwise: string) => (at === null ? otherwise : format.dateTime(at))
  const none = t('number.health.none')
  const isLasting = number.steps.some(({ reason }) => LASTING.includes(reason))
  return (
    <DataList>
      <Fact
        label={t('number.health.token_expires_at')}
        value={shown(number.token_expires_at, isLasting ? t('number.health.never') : none)}
      />
      <Fact label={t('number.health.callback_url')} value={number.callback_url ?? none} />
      <Fact label={t('number.health.last_callback_at')} value={shown(number.last_callback_at, none)} />
      <Fact label={t('number.health.last_send_at')} value={shown(number.last_send_at, none)} />
      <Fact label={t('number.health.checked_at')} value={shown(number.checked_at, none)} />
    </DataList>
  )
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue>{value}</DataList.ItemValue>
    </DataList.Item>
  )
}
