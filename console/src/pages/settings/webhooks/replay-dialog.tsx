import { Modal, Stack, Text } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { notifyDone } from '../../../shared/problem.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useDateStyle } from '../forms/date-style.js'
import { useSubmit } from '../forms/use-submit.js'
import { DELIVERIES } from '../queries.js'
import type { Webhook } from '../types.js'

interface ReplayProps {
  webhook: Webhook
  onClose: () => void
}

// The range includes the whole last minute.
const LAST_OF_MINUTE_MS = 59_999

/** Replays the events of a time range. */
export default function ReplayDialog({ webhook, onClose }: ReplayProps) {
  const { t } = useTranslation('settings')
  const dates = useDateStyle()
  return (
    <Modal opened onClose={onClose} title={t('webhooks.replayRange')} closeOnEscape={!dates.isPicking}>
      <ReplayForm webhook={webhook} onClose={onClose} dates={dates} />
    </Modal>
  )
}

function ReplayForm({ webhook, onClose, dates }: ReplayProps & { dates: ReturnType<typeof useDateStyle> }) {
  const { t } = useTranslation('settings')
  const { style, format } = dates
  const queries = useQueryClient()
  const form = useForm<{ from: string | null; to: string | null }>({
    initialValues: { from: null, to: null },
    validate: {
      from: (from) => (from === null ? t('webhooks.noTime') : null),
      to: (to, { from }) => {
        if (to === null) return t('webhooks.noTime')
        return from !== null && to < from ? t('webhooks.endsFirst') : null
      },
    },
  })
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ from, to }) =>
      api.post<{ count: number }>('/webhook-deliveries/replay', {
        webhook_id: webhook.id,
        from: toIso(from, 0),
        to: toIso(to, LAST_OF_MINUTE_MS),
      }),
    ({ count }) => {
      notifyDone(t('webhooks.replayed', { count }))
      onClose()
      return queries.invalidateQueries({ queryKey: DELIVERIES })
    },
  )
  const picker = (field: 'from' | 'to') => ({
    ...form.getInputProps(field),
    ...style,
    valueFormat: `${format} HH:mm`,
    label: t(`webhooks.${field}`),
    placeholder: t('webhooks.chooseTime'),
    maxDate: new Date(),
    required: true,
    submitButtonProps: { 'aria-label': t('webhooks.takeTime') },
    timePickerProps: {
      hoursInputLabel: t('webhooks.hours'),
      minutesInputLabel: t('webhooks.minutes'),
    },
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{t('webhooks.replayRangeHint')}</Text>
        <DateTimePicker {...picker('from')} data-autofocus />
        <DateTimePicker {...picker('to')} />
        <DialogButtons action={t('webhooks.replay')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

/** The picker returns local times without a zone. */
function toIso(local: string | null, plusMs: number): string | null {
  return local && new Date(new Date(local.replace(' ', 'T')).getTime() + plusMs).toISOString()
}
