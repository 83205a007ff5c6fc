import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { ShownMerge } from '../../../../../src/model/contacts/merge.js'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { useLive } from '../../../api/live.js'
import { useMay } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { notifyError } from '../../../shared/problem.js'
import { nameOf } from './contact-name.js'

/** The contacts that became part of this one and can be separated again, the last one first. */
export function Merges({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const mayWrite = useMay('agent')
  const merges = useMerges(contact.id)
  const undo = useUndo()
  if (merges.length === 0) return null
  const ask = (merge: ShownMerge) =>
    modals.openConfirmModal({
      title: t('merges.title', { name: nameOf(merge) }),
      children: <Text size="sm">{t('merges.hint')}</Text>,
      labels: { confirm: t('merges.undo'), cancel: t('cancel', { ns: 'common' }) },
      onConfirm: () => undo.mutate(merge.id),
    })
  return (
    <Stack gap="xs">
      <Title order={4} size="sm">
        {t('merges.heading')}
      </Title>
      {merges.map((merge, index) => (
        <Group key={merge.id} justify="space-between" wrap="nowrap">
          <Text size="xs" truncate>
            {t('merges.one', {
              name: nameOf(merge),
              date: format.date(merge.merged_at),
              messages: format.number(merge.messages),
            })}
          </Text>
          {mayWrite && index === 0 && (
            <Button size="compact-xs" flex="none" variant="default" loading={undo.isPending} onClick={() => ask(merge)}>
              {t('merges.undo')}
            </Button>
          )}
        </Group>
      ))}
    </Stack>
  )
}

function useMerges(contactId: string): ShownMerge[] {
  const queries = useQueryClient()
  const queryKey = ['inbox', 'merges', contactId]
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<{ merges: ShownMerge[] }>(`/contacts/${contactId}/merges`, {}, signal),
  })
  useLive(({ merged, unmerged, contact_id }) => {
    const kept = merged ? contact_id : unmerged?.id
    if (kept === contactId) void queries.invalidateQueries({ queryKey })
  })
  return data?.merges ?? []
}

/** Both conversations have other messages afterwards, so the page loads anew. */
function useUndo() {
  return useMutation({
    mutationFn: (mergeId: string) => api.post(`/merges/${mergeId}/undo`),
    onSuccess: () => window.location.reload(),
    onError: (error) => notifyError(error),
  })
}
