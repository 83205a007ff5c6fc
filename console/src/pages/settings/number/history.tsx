import { Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLive } from '../../../api/live.js'
import { useFormat } from '../../../shared/format.js'
import { Panel } from '../frame/panel.js'
import { HISTORIES, useInstances, usePhoneHistories } from '../queries.js'
import type { PhoneHistory } from '../types.js'

/** How much of the history of a number that is also used on a phone is taken in; nothing if there is no such number. */
export function PhoneHistories() {
  const queries = useQueryClient()
  const { data = [] } = usePhoneHistories()
  useLive((event) => {
    if (event.type === 'history.imported') void queries.invalidateQueries({ queryKey: HISTORIES })
  })
  return data.map((history) => <OneHistory key={history.id} history={history} />)
}

function OneHistory({ history }: { history: PhoneHistory }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const { data: instances = [] } = useInstances()
  const { status, progress, messages, error, finished_at, instance_id } = history
  const name = instances.find(({ id }) => id === instance_id)?.name
  return (
    <Panel title={name === undefined ? t('history.title') : t('history.ofInstance', { name })}>
      <Stack gap="xs">
        {status === 'running' && <Progress value={progress} aria-label={t('history.title')} />}
        <Text size="sm">
          {status === 'running' && t('history.running', { progress })}
          {status === 'done' && t('history.done', { at: format.dateTime(finished_at ?? history.updated_at) })}
          {status === 'refused' && t('history.refused', { reason: error?.text ?? '' })}
          {status !== 'refused' && ` · ${t('history.messages', { count: messages })}`}
        </Text>
        {status === 'refused' && <Text size="sm">{t('history.again')}</Text>}
      </Stack>
    </Panel>
  )
}
