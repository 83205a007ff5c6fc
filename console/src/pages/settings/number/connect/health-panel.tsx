import { Alert, Button, DataList, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
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

/** What the last checks of the numbers have found; nothing without a number. */
export function HealthPanels() {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const health = useNumberHealth()
  useLive((event) => {
    if (event.type === 'number.updated') void queries.invalidateQueries({ queryKey: NUMBER_HEALTH })
  })
  const checking = useMutation({
    mutationFn: () => api.get<{ numbers: NumberHealth[] }>('/settings/upstream/health', { refresh: 'true' }),
    onSuccess: ({ numbers }) => queries.setQueryData(NUMBER_HEALTH, numbers),
    onError: (error) => notifyError(error),
  })
  const numbers = health.data ?? []
  return numbers.map((number, index) => (
    <HealthPanel
      key={number.phone_number_id}
      number={number}
      title={
        numbers.length === 1
          ? t('number.health.title')
          : t(index === 0 ? 'number.health.titleOfFirst' : 'number.health.titleOf', {
              number: number.display_phone_number ?? number.phone_number_id,
            })
      }
      isFurther={index > 0}
      isChecking={checking.isPending}
      onCheck={() => checking.mutate()}
    />
  ))
}

interface HealthPanelProps {
  number: NumberHealth
  title: string
  isFurther: boolean
  isChecking: boolean
  onCheck: () => void
}

function HealthPanel({ number, title, isFurther, isChecking, onCheck }: HealthPanelProps) {
  const { t } = useTranslation('settings')
  const problems = number.steps.filter(({ state }) => state !== 'ok')
  return (
    <Panel title={title} hint={t('number.health.hint')}>
      <Alert color={COLORS[number.state ?? 'warning']} variant="outline" role="status">
        {number.state === null ? (
          t('number.health.unchecked')
        ) : (
          <Steps steps={problems.length > 0 ? problems : number.steps} />
        )}
      </Alert>
      <Facts number={number} />
      <Group>
        <Button variant="default" onClick={onCheck} loading={isChecking}>
          {t('number.health.refresh')}
        </Button>
        {isFurther && <Disconnect phoneNumberId={number.phone_number_id} />}
      </Group>
    </Panel>
  )
}

/** Disconnects a number that is not the first, after a question. */
function Disconnect({ phoneNumberId }: { phoneNumberId: string }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const [isAsking, asking] = useDisclosure(false)
  const removal = useMutation({
    mutationFn: () => api.delete(`/settings/numbers/${phoneNumberId}`),
    onSuccess: () => queries.invalidateQueries({ queryKey: NUMBER_HEALTH }),
    onError: (error) => notifyError(error),
    onSettled: asking.close,
  })
  if (!isAsking) {
    return (
      <Button variant="subtle" color="red" onClick={asking.open}>
        {t('number.health.disconnect')}
      </Button>
    )
  }
  return (
    <Button color="red" onClick={() => removal.mutate()} loading={removal.isPending}>
      {t('number.health.disconnectSure')}
    </Button>
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
      <Fact label={t('number.health.quality')} value={number.quality_rating ?? none} />
      <Fact label={t('number.health.throughput')} value={number.throughput ?? none} />
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
