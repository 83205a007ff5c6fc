import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconHistory, IconRefresh, IconSend, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { api } from '../../../api/client.js'
import { notifyDone, notifyError } from '../../../shared/problem.js'
import { ConfirmDialog } from '../dialogs/confirm-dialog.js'
import { DELIVERIES, WEBHOOKS } from '../queries.js'
import type { Webhook } from '../types.js'
import { SecretDialog } from './secret-dialog.js'

// Loaded later, since it brings the date pickers.
const ReplayDialog = lazy(() => import('./replay-dialog.js'))

/** Actions of a webhook. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isRotating, rotating] = useDisclosure(false)
  const [isDeleting, deleting] = useDisclosure(false)
  const [isReplaying, replaying] = useDisclosure(false)
  const [secret, setSecret] = useState<string | null>(null)
  const test = useMutation({
    mutationFn: () => api.post(`/set-webhooks/${webhook.id}/test`),
    onSuccess: () => {
      notifyDone(t('webhooks.testSent'))
      return queries.invalidateQueries({ queryKey: DELIVERIES })
    },
    onError: (error) => notifyError(error),
  })
  const rotate = async () => {
    const answer = await api.post<{ webhook: { secret: string } }>(`/set-webhooks/${webhook.id}/rotate-secret`)
    setSecret(answer.webhook.secret)
  }
  const remove = async () => {
    await api.delete('/set-webhooks', {}, { id: webhook.id })
    navigate('/settings/webhooks')
    await queries.invalidateQueries({ queryKey: WEBHOOKS })
  }
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconSend size={18} aria-hidden />}
        onClick={() => test.mutate()}
        loading={test.isPending}
        disabled={!webhook.active}
      >
        {t('webhooks.test')}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t('actionsFor', { name: webhook.url })}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconHistory size={16} aria-hidden />}
            onClick={replaying.open}
            disabled={!webhook.active}
          >
            {t('webhooks.replayRange')}
          </Menu.Item>
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={rotating.open}>
            {t('webhooks.rotate')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={deleting.open}>
            {t('webhooks.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={isRotating}
        title={t('webhooks.rotate')}
        action={t('webhooks.rotate')}
        isDanger={false}
        onConfirm={rotate}
        onClose={rotating.close}
      >
        {t('webhooks.rotateHint')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={isDeleting}
        title={t('webhooks.deleteTitle')}
        action={t('webhooks.delete')}
        onConfirm={remove}
        onClose={deleting.close}
      >
        {t('webhooks.deleteHint', { url: webhook.url })}
      </ConfirmDialog>
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
      <Suspense>{isReplaying && <ReplayDialog webhook={webhook} onClose={replaying.close} />}</Suspense>
    </Group>
  )
}
