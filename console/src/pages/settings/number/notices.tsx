import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useLive } from '../../../api/live.js'
import { translateSentence } from '../../../i18n/index.js'
import { useFormat } from '../../../shared/format.js'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { NOTICES, useNotices } from '../queries.js'
import type { Notice } from '../types.js'

const COLORS = { critical: 'red', warning: 'orange', info: 'gray' } as const
const EVENTS = ['account.updated', 'number.updated']

/** What WhatsApp reported about the account and its numbers, and what to do about it. */
export function Notices() {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const notices = useNotices()
  useLive((event) => {
    if (EVENTS.includes(event.type)) void queries.invalidateQueries({ queryKey: NOTICES })
  })
  return (
    <Panel title={t('notices.title')}>
      <Loaded query={notices}>
        {(all) => {
          const open = all.filter(({ closed_at }) => closed_at === null)
          if (open.length === 0) return <Text size="sm">{t('notices.nothing')}</Text>
          return (
            <Stack gap="sm">
              {open.map((notice) => (
                <Entry key={notice.id} notice={notice} />
              ))}
            </Stack>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function Entry({ notice }: { notice: Notice }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const queries = useQueryClient()
  const close = useMutation({
    mutationFn: () => api.post(`/notices/${notice.id}/close`, {}),
    onSettled: () => queries.invalidateQueries({ queryKey: NOTICES }),
  })
  const { severity, title, advice, sentences, at, until } = notice
  const hasEnded = until !== null && new Date(until) <= new Date()
  return (
    <Alert color={COLORS[hasEnded ? 'info' : severity]} title={translateSentence(sentences.title, title)}>
      <Stack gap={4}>
        {advice !== null && <Text size="sm">{translateSentence(sentences.advice, advice)}</Text>}
        <Group justify="space-between">
          <Text size="xs">
            {format.dateTime(at)}
            {until !== null && ` · ${t('notices.until', { at: format.dateTime(until) })}`}
          </Text>
          <Button size="compact-xs" variant="subtle" loading={close.isPending} onClick={() => close.mutate()}>
            {t('notices.done')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
