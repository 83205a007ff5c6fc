import { Button } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useMay } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { notifyError } from '../../../shared/problem.js'
import { FIGURES } from '../../analytics/data.js'
import { BROADCASTS, type Broadcast } from '../data.js'

type Verb = 'pause' | 'resume' | 'cancel' | 'retry-failed'

/** The actions that a broadcast's status and the member's role allow. */
export function Actions({ broadcast, failed }: { broadcast: Broadcast; failed: number }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const maySend = useMay('agent')
  const control = useControl(broadcast.id)
  if (!maySend) return null
  const { status, name } = broadcast
  const icon = { 'aria-hidden': true, size: 18 }
  const busyWith = (verb: Verb) => control.isPending && control.variables === verb
  const confirm = (verb: Verb, texts: { title: string; hint: string; yes: string }, color?: string) =>
    modals.openConfirmModal({
      title: texts.title,
      children: texts.hint,
      labels: { confirm: texts.yes, cancel: t('back', { ns: 'common' }) },
      ...(color && { confirmProps: { color } }),
      onConfirm: () => control.mutate(verb),
    })
  return (
    <>
      {(status === 'running' || status === 'scheduled') && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause {...icon} />}
          loading={busyWith('pause')}
          onClick={() => control.mutate('pause')}
        >
          {t('actions.pause')}
        </Button>
      )}
      {status === 'paused' && (
        <Button
          leftSection={<IconPlayerPlay {...icon} />}
          loading={busyWith('resume')}
          onClick={() => control.mutate('resume')}
        >
          {t('actions.resume')}
        </Button>
      )}
      {failed > 0 && (status === 'running' || status === 'paused' || status === 'completed') && (
        <Button
          variant="default"
          leftSection={<IconRefresh {...icon} />}
          loading={busyWith('retry-failed')}
          onClick={() =>
            confirm('retry-failed', {
              title: t('retry.title'),
              hint: t('retry.hint', { count: failed, shown: number(failed) }),
              yes: t('actions.retry'),
            })
          }
        >
          {t('actions.retry')}
        </Button>
      )}
      {(status === 'running' || status === 'scheduled' || status === 'paused') && (
        <Button
          variant="default"
          leftSection={<IconPlayerStop {...icon} />}
          loading={busyWith('cancel')}
          onClick={() =>
            confirm(
              'cancel',
              { title: t('cancel.title', { name }), hint: t('cancel.hint'), yes: t('actions.cancel') },
              'red',
            )
          }
        >
          {t('actions.cancel')}
        </Button>
      )}
    </>
  )
}

function useControl(id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (verb: Verb) => api.post<{ broadcast: Broadcast }>(`/broadcasts/${id}/${verb}`),
    onError: (error) => notifyError(error),
    // After errors too: the broadcast may have had another status than shown.
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: BROADCASTS }),
        queries.invalidateQueries({ queryKey: FIGURES }),
      ]),
  })
}
