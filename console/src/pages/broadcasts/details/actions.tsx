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
export function Actions({ broadcast }: { broadcast: Broadcast }) {
  const { t } = useTranslation('broadcasts')
  const maySend = useMay('agent')
  const control = useControl(broadcast.id)
  if (!maySend) return null
  const { status, name } = broadcast
  const icon = { 'aria-hidden': true, size: 18 }
  const busyWith = (verb: Verb) => control.isPending && control.variables === verb
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
      {(status === 'running' || status === 'scheduled' || status === 'paused') && (
        <Button
          variant="default"
          leftSection={<IconPlayerStop {...icon} />}
          loading={busyWith('cancel')}
          onClick={() =>
            modals.openConfirmModal({
              title: t('cancel.title', { name }),
              children: t('cancel.hint'),
              labels: { confirm: t('actions.cancel'), cancel: t('back', { ns: 'common' }) },
              confirmProps: { color: 'red' },
              onConfirm: () => control.mutate('cancel'),
            })
          }
        >
          {t('actions.cancel')}
        </Button>
      )}
    </>
  )
}

/** Sends again to those who failed. It stands beside the reasons, since many failures come again. */
export function Retry({ broadcast: { id, status }, failed }: { broadcast: Broadcast; failed: number }) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const maySend = useMay('agent')
  const control = useControl(id)
  const isPossible = status === 'running' || status === 'paused' || status === 'completed'
  if (!maySend || failed === 0 || !isPossible) return null
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconRefresh aria-hidden size={16} />}
      loading={control.isPending}
      onClick={() =>
        modals.openConfirmModal({
          title: t('retry.title'),
          children: t('retry.hint', { count: failed, shown: number(failed) }),
          labels: { confirm: t('actions.retry'), cancel: t('back', { ns: 'common' }) },
          onConfirm: () => control.mutate('retry-failed'),
        })
      }
    >
      {t('actions.retry')}
    </Button>
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
