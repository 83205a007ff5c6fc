import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { notifyDone, notifyError } from '../../../shared/problem.js'
import { WEBHOOKS } from '../queries.js'
import type { Webhook } from '../types.js'
import classes from './disabled-notice.module.css'

/** Why a webhook was disabled, with a button to enable it. Nothing for an active webhook. */
export function DisabledNotice({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const enable = useMutation({
    mutationFn: () => api.post(`/set-webhooks/${webhook.id}/enable`),
    onSuccess: () => {
      notifyDone(t('webhooks.enabled'))
      return queries.invalidateQueries({ queryKey: WEBHOOKS })
    },
    onError: (error) => notifyError(error),
  })
  if (webhook.active) return null
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title={t('webhooks.disabledTitle')}
      className={classes.notice}
    >
      <Stack gap="xs" align="flex-start">
        {webhook.disabled_reason && <Text size="sm">{webhook.disabled_reason}</Text>}
        <Text size="sm">{t('webhooks.disabledHint')}</Text>
        <Button size="xs" variant="default" onClick={() => enable.mutate()} loading={enable.isPending}>
          {t('webhooks.enable')}
        </Button>
      </Stack>
    </Alert>
  )
}
